/* AscendCL, the C API: life cycle; includes the rest.
 *
 * The subset that loads an om and runs it. Names, order rules and error codes are those of AscendCL; the device is this
 * processor. Functions return 0 (ACL_SUCCESS) or an error code of acl_base.h; aclGetRecentErrMsg() has the text.
 *
 *   aclInit(NULL); aclrtSetDevice(0);
 *   aclmdlLoadFromFile("m.om", &id);
 *   aclmdlExecute(id, inputs, outputs);      datasets of one buffer per input and output
 *   aclmdlUnload(id); aclrtResetDevice(0); aclFinalize();
 *
 * All functions may be called from any thread. Executions of one model queue up; different models run side by side. */
#ifndef AOE_ACL_ACL_H_
#define AOE_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `configPath`: a JSON file, or NULL. A second call returns ACL_ERROR_REPEAT_INITIALIZE, counts one more reference, and
 * changes nothing else. */
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

/* Unloads what is still loaded, whatever the number of references. */
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

/* Gives one reference back, and finalizes with the last. `refCount` (may be NULL) receives how many are left. */
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

/* What the calling thread's last failed call said, once; NULL when there is nothing new. Valid until the thread asks
 * again. */
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
