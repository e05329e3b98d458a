// Calls: direct, by pointer, recursive, virtual, with structures.  SPDX-License-Identifier: MIT
struct triple {
    int a;
    double b;
    char c[5];
};

__device__ __noinline__ int square_plus(int x, int y) { return x * x + y; }
__device__ __noinline__ triple change(triple t, int n)
{
    t.a += n;
    t.b *= n;
    t.c[n % 5] = 'x';
    return t;
}
__device__ __noinline__ float by_reference(float *p, long long n)
{
    *p += 1.5f;
    return *p * (float)n;
}

extern "C" __global__ void direct(int *out, double *d, float *f)
{
    int t = threadIdx.x;
    out[t] = square_plus(t, 3);
    if (t % 3 == 0) out[t] += square_plus(out[t], 1);
    triple s = { t, 0.5, { 'a', 'b', 'c', 'd', 'e' } };
    s = change(s, t + 1);
    d[t] = s.a + s.b + s.c[(t + 1) % 5] + s.c[t % 5];
    float x = t;
    f[t] = by_reference(&x, t + 2) + x;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursive(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 11); }

__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
extern "C" __global__ void mutual(int *out) { out[threadIdx.x] = is_even(threadIdx.x); }

__device__ __noinline__ int endless(int n, int *keep)
{
    int a[4] = { n, n + 1, n + 2, *keep };
    int r = endless(n + 1, &a[n & 3]);
    return r + a[r & 3];
}
extern "C" __global__ void overflow(int *out)
{
    int k = 0;
    if (threadIdx.x == 3) out[0] = endless(0, &k);
    out[1 + threadIdx.x] = 9;
}

__device__ int twice(int x) { return 2 * x; }
__device__ int plus_ten(int x) { return x + 10; }
__device__ int negative(int x) { return -x; }
__device__ int (*const table[3])(int) = { twice, plus_ten, negative };
extern "C" __global__ void by_pointer(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

extern "C" __global__ void wild_pointer(int *out, unsigned long long address)
{
    int (*f)(int) = (int (*)(int))address;
    out[threadIdx.x] = f(1);
}

struct shape {
    __device__ virtual int area() const = 0;
};
struct box : shape {
    int w, h;
    __device__ box(int a, int b) : w(a), h(b) {}
    __device__ int area() const override { return w * h; }
};
struct line : shape {
    int n;
    __device__ line(int a) : n(a) {}
    __device__ int area() const override { return -n; }
};
extern "C" __global__ void virtuals(int *out)
{
    int t = threadIdx.x;
    box b(t, 3);
    line l(t);
    const shape *s = t % 2 ? (const shape *)&b : &l;
    out[t] = s->area();
}

// The heap of kernels.
struct node {
    node *next;
    int value;
};
extern "C" __global__ void lists(int *out, int n)
{
    node *first = nullptr;
    for (int k = 0; k < n; k++) {
        node *x = new node;
        x->next = first;
        x->value = k * (threadIdx.x + 1);
        first = x;
    }
    int sum = 0;
    while (first) {
        node *x = first;
        sum += x->value;
        first = x->next;
        delete x;
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void too_much(int *out)
{
    char *p = (char *)malloc(1 << 30);
    out[threadIdx.x] = p == nullptr;
    free(p);
}
extern "C" __global__ void after_free(int *out)
{
    int *p = (int *)malloc(64);
    p[threadIdx.x] = 5;
    free(p);
    out[threadIdx.x] = *(volatile int *)&p[threadIdx.x];
}
extern "C" __global__ void free_twice(int *out)
{
    int *p = (int *)malloc(64);
    *(volatile int *)p = 1;
    free(p);
    if (threadIdx.x == 2) free(p);
    out[threadIdx.x] = 1;
}
extern "C" __global__ void heap_past(int *out)
{
    int *p = (int *)malloc(40);
    p[10 + threadIdx.x] = 1;
    out[0] = *(volatile int *)p;
}
