// SPDX-License-Identifier: Apache-2.0
// The operating system's side under Linux user emulation: mmap, clone, futex, signals. VTCM is an aligned block of ordinary memory with a
// cap; HVX locks and power votes are counted, so that tests find what would be missing on a phone. Counters are the emulator's packet
// counters (control registers 20 to 22, which exist only there).
// Ownership: static state of the one process. Threads: any.
#include "exec/hexagon/dsp/os_qemu.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum {
    SYS_CLOSE = 57, SYS_PPOLL = 73, SYS_EXIT_GROUP = 94, SYS_FUTEX = 98, SYS_CLOCK = 113, SYS_SIGALTSTACK = 132, SYS_SIGACTION = 134,
    SYS_MUNMAP = 215, SYS_MMAP2 = 222
};
enum { STACK_BYTES = 1 << 20, SIGNAL_STACK = 65536, MAX_SELF = TN_HEX_MAX_THREADS + 1 };

#define READ_COUNTER(n) ({                                                                                            \
    uint32_t value;                                                                                                   \
    __asm__ volatile(".word %1\n %0 = r8" : "=r"(value) : "i"(0x6A00C000u | ((n) << 16) | 8) : "r8", "memory");       \
    value; })

int tn_hx_clone(uint32_t flags, void *stack, void *ptid, void *ctid, void *tls);
void tn_hx_start(const uint32_t *stack);

static tn_hx_self selves[MAX_SELF];
static uint8_t *vtcm;
static size_t vtcm_size;
static uint32_t vtcm_taken, power_voted;
static uint32_t account;

long tn_hx_call(long number, long a, long b, long c, long d, long e, long f) { return tn_hx_syscall(a, b, c, d, e, f, number); }

void tn_hx_exit(int status)
{
    for (;;) {
        tn_hx_call(SYS_EXIT_GROUP, status, 0, 0, 0, 0, 0);
    }
}

void *tn_hx_mmap(size_t bytes, int flags, int fd)
{
    const long at = tn_hx_call(SYS_MMAP2, 0, (long)bytes, 3 /* read, write */, flags, fd, 0);
    return (unsigned long)at > 0xfffff000ul ? NULL : (void *)at;
}

void tn_hx_munmap(void *at, size_t bytes) { tn_hx_call(SYS_MUNMAP, (long)at, (long)bytes, 0, 0, 0, 0); }

static size_t pages(size_t bytes) { return (bytes + TN_HEX_PAGE - 1) & ~(size_t)(TN_HEX_PAGE - 1); }

static void *take(size_t bytes)
{
    if (bytes == 0 || bytes > 0x80000000u) {
        return NULL;
    }
    return tn_hx_mmap(pages(bytes), 0x22 /* private, anonymous */, -1);
}

static void give(void *at, size_t bytes)
{
    if (at) {
        tn_hx_munmap(at, pages(bytes));
    }
}

static tn_hx_self *self(void)
{
    tn_hx_self *at;
    __asm__("%0 = ugp" : "=r"(at));
    return at;
}

static int thread_start(unsigned index, void (*run)(void *), void *context)
{
    enum { FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x80000 };   // VM FS FILES SIGHAND THREAD SYSVSEM SETTLS
    uint8_t *stack = index < MAX_SELF ? take(STACK_BYTES) : NULL;
    if (!stack) {
        return -1;
    }
    uint32_t *top = (uint32_t *)(stack + STACK_BYTES - 128);
    top[0] = (uint32_t)context;
    top[1] = (uint32_t)run;
    selves[index].thread = index;
    return tn_hx_clone(FLAGS, top, NULL, NULL, &selves[index]) > 0 ? 0 : -1;
}

static void futex_wait(uint32_t *word, uint32_t value) { tn_hx_call(SYS_FUTEX, (long)word, 0, (long)value, 0, 0, 0); }
static void futex_wake(uint32_t *word) { tn_hx_call(SYS_FUTEX, (long)word, 1, 0x7fffffff, 0, 0, 0); }

static void trap(void) { __builtin_trap(); }

static void hvx_lock(void)
{
    if (account && !power_voted) {
        trap();   // on a phone HVX has no power without a vote
    }
    self()->hvx_held++;
}

static void hvx_unlock(void)
{
    if (self()->hvx_held == 0) {
        trap();
    }
    self()->hvx_held--;
}

static size_t vtcm_bytes(void) { return vtcm_size; }

static void *vtcm_take(size_t bytes)
{
    if (vtcm_taken || bytes > vtcm_size) {
        return NULL;
    }
    vtcm_taken = 1;
    return vtcm;
}

static void vtcm_give(void *at)
{
    if (at != vtcm || !vtcm_taken) {
        trap();
    }
    vtcm_taken = 0;
}

static void copy_start(void *to, const void *from, size_t bytes)
{
    if (account && ((uint8_t *)to < vtcm || (size_t)((uint8_t *)to - vtcm) > vtcm_size - bytes || !vtcm_taken)) {
        trap();
    }
    memcpy(to, from, bytes);
}

static void copy_wait(void) { }

static void power_level(uint32_t percent)
{
    (void)percent;
    power_voted = 1;
}

static void power_details(uint32_t corner, uint32_t dcvs, uint32_t latency_us)
{
    (void)corner, (void)dcvs, (void)latency_us;
    power_voted = 1;
}

static uint64_t microseconds(void)
{
    int32_t time[2] = {0, 0};
    tn_hx_call(SYS_CLOCK, 1 /* monotonic */, (long)time, 0, 0, 0, 0);
    return (uint64_t)(uint32_t)time[0] * 1000000u + (uint32_t)time[1] / 1000u;
}

static void counters(uint32_t out[3])
{
    out[0] = READ_COUNTER(20);
    out[1] = READ_COUNTER(21);
    out[2] = READ_COUNTER(22);
}

const tn_hx_os tn_hx_os_table = {
    .take = take, .give = give, .thread_start = thread_start, .self = self, .wait = futex_wait, .wake = futex_wake,
    .hvx_lock = hvx_lock, .hvx_unlock = hvx_unlock, .vtcm_bytes = vtcm_bytes, .vtcm_take = vtcm_take, .vtcm_give = vtcm_give,
    .copy_start = copy_start, .copy_wait = copy_wait, .power_level = power_level, .power_details = power_details,
    .microseconds = microseconds, .counters = counters, .trap = trap
};

// ---- crash records and start ----

// info: signal, errno, code, address. In the context's words r0..r31 are 6 to 37 and the PC 48.
static void on_signal(int signal, const uint32_t *info, const uint32_t *context)
{
    const tn_hx_self *me = self();
    tn_hx_crash(signal, context[48], info[3], me->node, me->call, me->graph);
    tn_hx_exit(TN_HEX_EXIT_CRASH);
}

static void watch_signals(void)
{
    static uint8_t stack[SIGNAL_STACK] __attribute__((aligned(128)));
    static const uint8_t signals[] = {4, 5, 6, 7, 8, 11};   // ILL TRAP ABRT BUS FPE SEGV
    const uint32_t alternative[3] = {(uint32_t)stack, 0, SIGNAL_STACK};
    const uint32_t action[4] = {(uint32_t)on_signal, 4u | 0x08000000u /* with info, on that stack */, 0, 0};
    tn_hx_call(SYS_SIGALTSTACK, (long)alternative, 0, 0, 0, 0, 0);
    for (unsigned i = 0; i < sizeof signals; i++) {
        tn_hx_call(SYS_SIGACTION, signals[i], (long)action, 0, 8, 0, 0);
    }
}

static uint32_t number(const char *text)
{
    uint32_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint32_t)(*text - '0');
    }
    return value;
}

// Sleeps on the socket for as long as the host lives.
static void watcher(void *context)
{
    for (;;) {
        int32_t poll[2] = {(int32_t)(uint32_t)context, 0};
        tn_hx_call(SYS_PPOLL, (long)poll, 1, 0 /* no limit */, 0, 0, 0);
        if ((uint32_t)poll[1] >> 16 & 0x38) {   // error, hang-up, not a descriptor
            tn_hx_exit(TN_HEX_EXIT_HANGUP);
        }
    }
}

// stack: argument count, arguments. The first is the descriptor of the control page, the second that of the socket.
void tn_hx_start(const uint32_t *stack)
{
    __asm__ volatile("ugp = %0" : : "r"(&selves[0]));
    if (stack[0] < 3) {
        tn_hx_exit(2);
    }
    const uint32_t page = number((const char *)stack[2]), socket = number((const char *)stack[3]);
    if (!tn_hx_link_open((int)page, (int)socket)) {
        tn_hx_exit(TN_HEX_EXIT_PROTOCOL);
    }
    watch_signals();
    const uint32_t wanted = tn_hx_link_table.config(TN_HEX_CONFIG_VTCM);
    vtcm_size = wanted ? (wanted > 0x1000000u ? 0x1000000u : wanted) : TN_HEX_VTCM_DEFAULT;
    vtcm = take(vtcm_size);
    account = tn_hx_link_table.config(TN_HEX_CONFIG_FLAGS) & TN_HEX_FLAG_ACCOUNT;
    if (!vtcm || thread_start(MAX_SELF - 1, watcher, (void *)socket) != 0) {
        tn_hx_exit(2);
    }
    tn_hx_serve();
    tn_hx_exit(0);
}
