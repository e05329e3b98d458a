#include <vector>

int main() {
  float *p;
  cudaMalloc(&p, 4);
}
