// libzstd, with its errors as exceptions.
#include "bank/zstd_text.h"

#include <zstd.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "base/check.h"

namespace aoe::bank {
namespace {

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
constexpr unsigned char kHasChecksum = 4;  ///< in the byte behind the magic number
constexpr int kLevel = 9;
constexpr int kMostWindowLog = 27;  ///< 128 MiB: what a foreign frame may make us allocate

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(what);
}

}  // namespace

std::string compress_text(std::string_view text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  AOE_CHECK(context != nullptr, "zstd has no context");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), bytes.data(), bytes.size(), text.data(), text.size());
  AOE_CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  bytes.resize(size);
  return bytes;
}

void decompress_text(std::string_view bytes, std::size_t most_bytes,
                     const std::function<void(std::string_view)>& take) {
  if (!bytes.starts_with(kMagic) || bytes.size() <= kMagic.size())
    fail("is not compressed by zstd");
  if (!(static_cast<unsigned char>(bytes[kMagic.size()]) & kHasChecksum)) fail("has no checksum");
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  AOE_CHECK(context != nullptr, "zstd has no context");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMostWindowLog);
  std::vector<char> piece(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t total = 0;
  for (std::size_t left = 1; left != 0;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t consumed = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) fail(ZSTD_getErrorName(left));
    if (left != 0 && out.pos == 0 && in.pos == consumed) fail("is cut");
    total += out.pos;
    if (total > most_bytes) fail("is too large");
    take({piece.data(), out.pos});
  }
  if (in.pos != in.size) fail("goes on behind its end");
}

}  // namespace aoe::bank
