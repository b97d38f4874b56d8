# SPDX-License-Identifier: Apache-2.0
# Tables of measured choices for processors (plan/tune/tables/*.rows) are embedded; plan/tune/choices.h reads them.
include(embed)
function(tenon_choices list)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/plan/tune/tables/*.rows)
  tenon_embed(${list} choices plan/tune/choices.h tn_choices_source tn_choices_sources ${sources})
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
