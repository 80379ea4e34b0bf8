// Texts of models, and those that go with a dataset.
#include "base/utf8.h"
#include "runtime/acl/objects.h"
#include "runtime/acl/wall.h"

using namespace aoe::runtime::acl;

namespace {

const char* bytes_of(const std::string* text, size_t* length) {
  if (text == nullptr) return nullptr;
  if (length != nullptr) *length = text->size();
  return text->c_str();
}

}  // namespace

size_t aclmdlGetNumTexts(const aclmdlDesc* modelDesc) {
  if (modelDesc == nullptr || modelDesc->texts == nullptr) return 0;
  return modelDesc->texts->list().size();
}

const char* aclmdlGetTextByIndex(const aclmdlDesc* modelDesc, size_t index, size_t* length) {
  if (index >= aclmdlGetNumTexts(modelDesc)) return nullptr;
  return bytes_of(&modelDesc->texts->list()[index], length);
}

bool aclmdlReadsTexts(const aclmdlDesc* modelDesc) {
  return modelDesc != nullptr && modelDesc->reads_texts;
}

aclError aclmdlSetDatasetTexts(aclmdlDataset* dataset, const aclmdlDesc* modelDesc) {
  return guarded(__func__, [&] {
    require_pointer(dataset, "dataset");
    require_pointer(modelDesc, "modelDesc");
    require(modelDesc->texts != nullptr, ACL_ERROR_INVALID_PARAM, "modelDesc describes no model");
    dataset->texts = std::make_unique<aoe::TextPool>(modelDesc->texts);
  });
}

aclError aclmdlAddDatasetText(aclmdlDataset* dataset, const char* text, size_t length,
                              int64_t* place) {
  return guarded(__func__, [&] {
    require_pointer(dataset, "dataset");
    require_pointer(text, "text");
    require_pointer(place, "place");
    require(dataset->texts != nullptr, ACL_ERROR_INVALID_PARAM,
            "the dataset has no texts; aclmdlSetDatasetTexts gives it some");
    const std::string_view bytes(text, length);
    require(aoe::is_utf8(bytes), ACL_ERROR_INVALID_PARAM, "the text is not UTF-8");
    *place = dataset->texts->place_of(bytes);
  });
}

const char* aclmdlGetDatasetText(const aclmdlDataset* dataset, int64_t place, size_t* length) {
  if (dataset == nullptr || dataset->texts == nullptr) return nullptr;
  return bytes_of(dataset->texts->find(place), length);
}
