struct Params { int n; float dt; float3 gravity; float damp[2]; };
struct Body   { float4 pos; float4 vel; };

extern "C" __global__ void step(Body *b, Params p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.n) return;
    b[i].vel.x += p.gravity.x * p.dt;
    b[i].vel.y += p.gravity.y * p.dt;
    b[i].vel.z += p.gravity.z * p.dt;
    b[i].pos.x += b[i].vel.x * p.dt * p.damp[0];
}
