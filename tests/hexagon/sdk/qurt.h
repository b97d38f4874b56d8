// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef QURT_H
#define QURT_H

#define QURT_EOK 0

typedef unsigned qurt_addr_t, qurt_size_t, qurt_thread_t;
typedef struct qurt_mutex {
    unsigned words[2];
} qurt_mutex_t;
typedef struct qurt_thread_attr {
    unsigned words[16];
} qurt_thread_attr_t;
typedef enum { QURT_HVX_MODE_64B, QURT_HVX_MODE_128B } qurt_hvx_mode_t;
typedef enum { QURT_MEM_CACHE_FLUSH, QURT_MEM_CACHE_INVALIDATE } qurt_mem_cache_op_t;
typedef enum { QURT_MEM_ICACHE, QURT_MEM_DCACHE } qurt_mem_cache_type_t;

void qurt_mutex_init(qurt_mutex_t *lock);
void qurt_mutex_lock(qurt_mutex_t *lock);
void qurt_mutex_unlock(qurt_mutex_t *lock);
int qurt_futex_wait(void *word, int value);
int qurt_futex_wake(void *word, int threads);
void qurt_thread_attr_init(qurt_thread_attr_t *attr);
void qurt_thread_attr_set_name(qurt_thread_attr_t *attr, const char *name);
void qurt_thread_attr_set_stack_addr(qurt_thread_attr_t *attr, void *stack);
void qurt_thread_attr_set_stack_size(qurt_thread_attr_t *attr, unsigned bytes);
void qurt_thread_attr_set_priority(qurt_thread_attr_t *attr, unsigned short priority);
int qurt_thread_create(qurt_thread_t *thread, qurt_thread_attr_t *attr, void (*run)(void *), void *argument);
void qurt_thread_exit(int status);
int qurt_hvx_lock(qurt_hvx_mode_t mode);
int qurt_hvx_unlock(void);
int qurt_mem_cache_clean(qurt_addr_t address, qurt_size_t bytes, qurt_mem_cache_op_t op, qurt_mem_cache_type_t type);

#endif
