// A struct by value whose alignment is awkward: a char, then 8-byte and 16-byte members.
struct Mixed {
    char tag;
    double weight;
    short pair[3];
    float4 vector;
    unsigned char tail;
};

extern "C" __global__ void by_value(char before, Mixed m, short after, double *out)
{
    out[0] = before;
    out[1] = m.tag;
    out[2] = m.weight;
    out[3] = m.pair[0] + 10 * m.pair[1] + 100 * m.pair[2];
    out[4] = m.vector.x + m.vector.y + m.vector.z + m.vector.w;
    out[5] = m.tail;
    out[6] = after;
}
