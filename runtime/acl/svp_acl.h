/* SS928's names of the life cycle. Everything between the two is acl/acl.h. */
#ifndef AOE_ACL_SVP_ACL_H_
#define AOE_ACL_SVP_ACL_H_

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As aclInit(). When there is no such file, one with the default configuration is made, which collects nothing: a reason
 * for which it cannot be made is logged, and no error. */
ACL_FUNC_VISIBILITY aclError svp_acl_init(const char* config_path);
ACL_FUNC_VISIBILITY aclError svp_acl_finalize(void);

#ifdef __cplusplus
}
#endif

#endif
