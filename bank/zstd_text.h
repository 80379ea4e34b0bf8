// Text in one zstd frame with a checksum.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace aoe::bank {

std::string compress_text(std::string_view text);

/// Calls `take` with piece after piece, `most_bytes` in all at most. Throws std::runtime_error that
/// says what is wrong: no zstd, no checksum, cut, damaged, too large, something behind the frame.
void decompress_text(std::string_view bytes, std::size_t most_bytes,
                     const std::function<void(std::string_view piece)>& take);

}  // namespace aoe::bank
