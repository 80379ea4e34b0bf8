/* AscendCL, the C API: models, their description, datasets, execution.
 *
 * Inputs and outputs are dense, in the order and shape of the original model. A buffer may be larger than its tensor. An
 * output whose size only a run can tell has size 0 in the description: give it a data buffer of NULL and 0; the
 * execution allocates it (release with aclrtFree), and aclmdlGetDatasetTensorDesc() has its shape. */
#ifndef AOE_ACL_ACL_MDL_H_
#define AOE_ACL_ACL_MDL_H_

#include <stdbool.h>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MAX_DIM_CNT 128
#define ACL_MAX_TENSOR_NAME_LEN 128
#define ACL_MAX_BATCH_NUM 128
#define ACL_MAX_HW_NUM 128
#define ACL_DYNAMIC_TENSOR_NAME "ascend_mbatch_shape_data"

typedef struct aclmdlDesc aclmdlDesc;
typedef struct aclmdlDataset aclmdlDataset;
typedef struct aclmdlConfigHandle aclmdlConfigHandle;
typedef struct aclmdlExecConfigHandle aclmdlExecConfigHandle;

/* Unknown dimensions are -1. */
typedef struct aclmdlIODims {
  char name[ACL_MAX_TENSOR_NAME_LEN];
  size_t dimCount;
  int64_t dims[ACL_MAX_DIM_CNT];
} aclmdlIODims;

typedef struct aclmdlBatch {
  size_t batchCount;
  uint64_t batch[ACL_MAX_BATCH_NUM];
} aclmdlBatch;

typedef struct aclmdlHW {
  size_t hwCount;
  uint64_t hw[ACL_MAX_HW_NUM][2];
} aclmdlHW;

/* ---- load ---- */

/* Bytes of working memory and of weights that the model needs. */
ACL_FUNC_VISIBILITY aclError aclmdlQuerySize(const char* fileName, size_t* workSize,
                                             size_t* weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize,
                                                    size_t* workSize, size_t* weightSize);

/* ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID: no such file; ACL_ERROR_PARSE_MODEL: not a sound om; ACL_ERROR_GE_LOAD_MODEL:
 * an om that this machine cannot run; ACL_ERROR_FAILURE: the process lacks descriptors or /proc. The file is read: it may
 * be removed or changed afterwards. */
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId);
/* `model` is copied. */
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromMem(const void* model, size_t modelSize,
                                               uint32_t* modelId);
/* With working memory and a place for the weights that the caller keeps until the model is unloaded; NULL and 0: the
 * library's own. ACL_ERROR_INVALID_PARAM when smaller than aclmdlQuerySize says. */
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId,
                                                       void* workPtr, size_t workSize,
                                                       void* weightPtr, size_t weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize,
                                                      uint32_t* modelId, void* workPtr,
                                                      size_t workSize, void* weightPtr,
                                                      size_t weightSize);
ACL_FUNC_VISIBILITY aclError aclmdlUnload(uint32_t modelId);

/* How to load, as attributes: */
typedef enum {
  ACL_MDL_PRIORITY_INT32 = 0,
  ACL_MDL_LOAD_TYPE_SIZET = 1,
  ACL_MDL_PATH_PTR = 2,
  ACL_MDL_MEM_ADDR_PTR = 3,
  ACL_MDL_MEM_SIZET = 4,
  ACL_MDL_WEIGHT_ADDR_PTR = 5,
  ACL_MDL_WEIGHT_SIZET = 6,
  ACL_MDL_WORKSPACE_ADDR_PTR = 7,
  ACL_MDL_WORKSPACE_SIZET = 8
} aclmdlConfigAttr;

#define ACL_MDL_LOAD_FROM_FILE 1
#define ACL_MDL_LOAD_FROM_FILE_WITH_MEM 2
#define ACL_MDL_LOAD_FROM_MEM 3
#define ACL_MDL_LOAD_FROM_MEM_WITH_MEM 4

ACL_FUNC_VISIBILITY aclmdlConfigHandle* aclmdlCreateConfigHandle(void);
ACL_FUNC_VISIBILITY aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle);
/* `attrValue` points at the value; the string behind ACL_MDL_PATH_PTR is copied. The priority is accepted and has no
 * effect. */
ACL_FUNC_VISIBILITY aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr,
                                                const void* attrValue, size_t valueSize);
ACL_FUNC_VISIBILITY aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle,
                                                  uint32_t* modelId);

/* ---- description ---- */

/* Counts and sizes of a bad handle or index are 0, names empty, types and formats undefined. */
ACL_FUNC_VISIBILITY aclmdlDesc* aclmdlCreateDesc(void);
ACL_FUNC_VISIBILITY aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId);
ACL_FUNC_VISIBILITY aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath);
ACL_FUNC_VISIBILITY size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc);
ACL_FUNC_VISIBILITY size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index,
                                                aclmdlIODims* dims);
ACL_FUNC_VISIBILITY aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index,
                                                 aclmdlIODims* dims);
/* Of the gear that was set last, or of the model's last execution; before both, the same as aclmdlGetOutputDims(). */
ACL_FUNC_VISIBILITY aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index,
                                                    aclmdlIODims* dims);
/* Valid as long as the description. */
ACL_FUNC_VISIBILITY const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc,
                                                          size_t index);
ACL_FUNC_VISIBILITY const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc,
                                                           size_t index);
ACL_FUNC_VISIBILITY aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc,
                                                       const char* name, size_t* index);
ACL_FUNC_VISIBILITY aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc,
                                                        const char* name, size_t* index);

/* ---- texts: not of AscendCL ---- */

/* Tensors hold numbers. An input or output that is a tensor of texts in the ONNX model is one of int64 here: the place of
 * each text in the model's list, and for a text that is not in it any other number, the same one for the same text. Where
 * aclmdlReadsTexts() says so, operators look at letters and make new texts: then those other numbers have to come from
 * aclmdlAddDatasetText(). */
ACL_FUNC_VISIBILITY bool aclmdlIsInputText(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY bool aclmdlIsOutputText(const aclmdlDesc* modelDesc, size_t index);
ACL_FUNC_VISIBILITY size_t aclmdlGetNumTexts(const aclmdlDesc* modelDesc);
/* UTF-8, valid as long as the description; NULL where the list has no such place. Texts may have NULs in them: `length`,
 * unless it is NULL, gets the number of bytes. */
ACL_FUNC_VISIBILITY const char* aclmdlGetTextByIndex(const aclmdlDesc* modelDesc, size_t index,
                                                     size_t* length);
ACL_FUNC_VISIBILITY bool aclmdlReadsTexts(const aclmdlDesc* modelDesc);

/* Gives an input dataset texts of its own: the model's list, and behind it what the program adds and what executions with
 * this dataset compute. Called again it forgets what was added, and so it does with the dataset. An execution with a
 * dataset that has none forgets what it computes. */
ACL_FUNC_VISIBILITY aclError aclmdlSetDatasetTexts(aclmdlDataset* dataset,
                                                   const aclmdlDesc* modelDesc);
/* The place of a text of `length` bytes, UTF-8; one that is new gets the next place. */
ACL_FUNC_VISIBILITY aclError aclmdlAddDatasetText(aclmdlDataset* dataset, const char* text,
                                                  size_t length, int64_t* place);
/* As aclmdlGetTextByIndex(), of the dataset's texts; valid until they are forgotten. */
ACL_FUNC_VISIBILITY const char* aclmdlGetDatasetText(const aclmdlDataset* dataset, int64_t place,
                                                     size_t* length);

/* ---- dynamic gears ---- */

/* A model with gears (of batch sizes, of image sizes, or of any dimensions) has one input more than the original, the
 * last, named ACL_DYNAMIC_TENSOR_NAME: its buffer says which gear an execution takes. A setter writes it, into the buffer
 * at `index` of the dataset, which must be that input's; it holds until another setter. In the description, dimensions
 * that gears change are -1, and sizes are those of the largest gear: buffers of these sizes serve all gears.
 *
 * The getters find no gears, and the setters return ACL_ERROR_MODEL_NOT_DYNAMIC, when the model has none of that kind.
 * Sizes that are no gear: ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID (batch), ACL_ERROR_GE_SHAPE_INVALID (others, and an
 * execution whose gear was not set or contradicts the shape set with aclmdlSetDatasetTensorDesc). */
ACL_FUNC_VISIBILITY aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch);
/* `index` is reserved. */
ACL_FUNC_VISIBILITY aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t index,
                                                aclmdlHW* hw);
/* Of a model with gears of any dimensions. `index` is reserved. */
ACL_FUNC_VISIBILITY aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc,
                                                            size_t index, size_t* gearCount);
/* Each gear as the dimensions of all inputs, one input behind the other; room for `gearCount` gears. */
ACL_FUNC_VISIBILITY aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t index,
                                                       aclmdlIODims* dims, size_t gearCount);
ACL_FUNC_VISIBILITY aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset,
                                                       size_t index, uint64_t batchSize);
ACL_FUNC_VISIBILITY aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset,
                                                    size_t index, uint64_t height, uint64_t width);
/* `dims` as aclmdlGetInputDynamicDims() gives them. */
ACL_FUNC_VISIBILITY aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset,
                                                       size_t index, const aclmdlIODims* dims);

/* ---- datasets ---- */

ACL_FUNC_VISIBILITY aclmdlDataset* aclmdlCreateDataset(void);
/* The data buffers stay the caller's. */
ACL_FUNC_VISIBILITY aclError aclmdlDestroyDataset(const aclmdlDataset* dataset);
ACL_FUNC_VISIBILITY aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset,
                                                    aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset);
ACL_FUNC_VISIBILITY aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset,
                                                          size_t index);
/* The shape of an input whose dimensions the model leaves open; the description is copied. */
ACL_FUNC_VISIBILITY aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset,
                                                        aclTensorDesc* tensorDesc, size_t index);
/* NULL when none is known. Valid as long as the dataset. */
ACL_FUNC_VISIBILITY aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset,
                                                              size_t index);

/* ---- run ---- */

/* ACL_ERROR_MODEL_INPUT_NOT_MATCH, ACL_ERROR_MODEL_OUTPUT_NOT_MATCH: wrong number of buffers, or one that is too small.
 * ACL_ERROR_RT_MODEL_EXECUTE: an op refused its values. */
ACL_FUNC_VISIBILITY aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input,
                                           aclmdlDataset* output);
/* Done when it returns: see acl_rt.h. */
ACL_FUNC_VISIBILITY aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input,
                                                aclmdlDataset* output, aclrtStream stream);
/* `handle`: NULL; others are ACL_ERROR_API_NOT_SUPPORT. */
ACL_FUNC_VISIBILITY aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input,
                                             aclmdlDataset* output, aclrtStream stream,
                                             const aclmdlExecConfigHandle* handle);

#ifdef __cplusplus
}
#endif

#endif
