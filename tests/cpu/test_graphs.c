/* Graphs: built by hand, recorded from streams, changed, and wrong use.  SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static CUDA_KERNEL_NODE_PARAMS kernel_node(CUfunction function, unsigned blocks, unsigned threads,
                                           void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){ .func = function,
                                      .gridDimX = blocks,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = threads,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params };
}

static void count_up(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* fill to 0, a kernel that adds 1, another, a host function, a copy back. */
static void by_hand(void **state)
{
    (void)state;
    CUfunction add_one = kernel(load("kernels"), "add_one");
    CUgraph graph;
    CUgraphNode zero, first, second, host, copy, nodes[8], root;
    CUgraphExec exec;
    CUgraphNodeType type;
    CUdeviceptr memory = alloc(400);
    int n = 100, back[100], other = 50;
    atomic_int calls = 0;
    size_t count = 8;
    ok(cu->GraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = memory, .value = 0, .elementSize = 4, .width = 100, .height = 1
    };
    ok(cu->GraphAddMemsetNode(&zero, graph, NULL, 0, &fill, test_context));
    CUDA_KERNEL_NODE_PARAMS params = kernel_node(add_one, 1, 128, (void *[]){ &memory, &n });
    ok(cu->GraphAddKernelNode(&first, graph, &zero, 1, &params));
    ok(cu->GraphAddKernelNode(&second, graph, &first, 1, &params));
    CUDA_HOST_NODE_PARAMS call = { count_up, &calls };
    ok(cu->GraphAddHostNode(&host, graph, &first, 1, &call));
    CUDA_MEMCPY3D down = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = memory,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = back,
                           .WidthInBytes = sizeof back,
                           .Height = 1,
                           .Depth = 1 };
    ok(cu->GraphAddMemcpyNode(&copy, graph, (CUgraphNode[]){ second, host }, 2, &down,
                              test_context));
    ok(cu->GraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 5);
    count = 8;
    ok(cu->GraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 5);
    assert_ptr_equal(nodes[4], copy);
    assert_null(nodes[5]);
    count = 1;
    ok(cu->GraphGetRootNodes(graph, &root, &count));
    assert_ptr_equal(root, zero);
    ok(cu->GraphNodeGetType(host, &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_HOST);

    ok(cu->GraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 10; i++) ok(cu->GraphLaunch(exec, NULL));
    ok(cu->CtxSynchronize());
    assert_int_equal(calls, 10);
    for (int i = 0; i < 100; i++) assert_int_equal(back[i], 2);

    /* New arguments for one kernel of the executable graph; the graph itself keeps its own. */
    CUDA_KERNEL_NODE_PARAMS half = kernel_node(add_one, 1, 128, (void *[]){ &memory, &other });
    ok(cu->GraphExecKernelNodeSetParams(exec, second, &half));
    ok(cu->GraphLaunch(exec, NULL));
    ok(cu->CtxSynchronize());
    assert_int_equal(back[49], 2);
    assert_int_equal(back[50], 1);
    ok(cu->GraphKernelNodeGetParams(second, &params));
    assert_ptr_equal(params.func, add_one);
    assert_int_equal(*(int *)params.kernelParams[1], 100);
    ok(cu->GraphNodeSetEnabled(exec, first, 0));
    ok(cu->GraphLaunch(exec, NULL));
    ok(cu->CtxSynchronize());
    assert_int_equal(back[0], 1);
    assert_int_equal(back[99], 0);
    fill.value = 7;
    ok(cu->GraphExecMemsetNodeSetParams(exec, zero, &fill, test_context));
    ok(cu->GraphLaunch(exec, NULL));
    ok(cu->CtxSynchronize());
    assert_int_equal(back[99], 7);

    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, zero, &half)); /* another type */
    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, NULL, &half));
    half.gridDimX = 0;
    fails(INVALID_VALUE, cu->GraphExecKernelNodeSetParams(exec, second, &half));
    fails(INVALID_VALUE, cu->GraphNodeSetEnabled(exec, host, 0));
    fails(INVALID_VALUE, cu->GraphAddKernelNode(&first, graph, &copy, 1, &half));
    fails(INVALID_VALUE, cu->GraphAddEmptyNode(&first, graph, (CUgraphNode[]){ copy, copy }, 2));
    fails(INVALID_VALUE, cu->GraphAddEmptyNode(&first, NULL, NULL, 0));
    ok(cu->GraphExecDestroy(exec));
    fails(INVALID_VALUE, cu->GraphLaunch(exec, NULL));
    ok(cu->GraphDestroy(graph));
    fails(INVALID_VALUE, cu->GraphDestroy(graph));
    fails(INVALID_VALUE, cu->GraphNodeGetType(copy, &type));
}

static void recorded(void **state)
{
    (void)state;
    CUfunction add_one = kernel(load("kernels"), "add_one");
    CUstream a, b;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    CUdeviceptr memory = alloc(8), second = memory + 4;
    int n = 1, *back;
    size_t count = 0;
    ok(cu->MemHostAlloc((void **)&back, 8, 0));
    ok(cu->StreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cu->StreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cu->EventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    ok(cu->EventCreate(&join, CU_EVENT_DISABLE_TIMING));
    ok(cu->MemsetD32(memory, 0, 2));
    ok(cu->StreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(cu->StreamIsCapturing(a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok(launch(add_one, 1, 1, a, &memory, &n));
    ok(cu->EventRecord(fork, a));
    ok(cu->StreamWaitEvent(b, fork, 0));
    ok(cu->StreamIsCapturing(b, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok(launch(add_one, 1, 1, b, &second, &n));
    ok(launch(add_one, 1, 1, a, &memory, &n));
    ok(cu->EventRecord(join, b));
    ok(cu->StreamWaitEvent(a, join, 0));
    ok(cu->MemcpyDtoHAsync(back, memory, 8, a));
    fails(CAPTURED_EVENT, cu->EventQuery(join));
    CUgraph growing;
    const CUgraphNode *last;
    CUgraphNodeType type;
    cuuint64_t id = 0;
    ok(cu->StreamGetCaptureInfo(a, &status, &id, &growing, &last, &count));
    assert_true(id > 0);
    assert_int_equal(count, 1);
    ok(cu->GraphNodeGetType(last[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    fails(ILLEGAL_STATE, cu->GraphDestroy(growing));
    ok(cu->StreamEndCapture(a, &graph));
    ok(cu->StreamIsCapturing(b, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(read_int(memory), 0); /* nothing has run yet */
    ok(cu->GraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 4);
    ok(cu->GraphInstantiate(&exec, graph, 0));
    for (int i = 1; i <= 5; i++) {
        ok(cu->GraphLaunch(exec, b));
        ok(cu->StreamSynchronize(b));
        assert_int_equal(back[0], 2 * i);
        assert_int_equal(back[1], i);
    }
    ok(cu->GraphExecDestroy(exec));
    ok(cu->GraphDestroy(graph));
}

static void wrong_recordings(void **state)
{
    (void)state;
    CUfunction nothing = kernel(load("kernels"), "nothing");
    CUstream a, b, blocking;
    CUevent event;
    CUgraph graph = (CUgraph)1;
    CUdeviceptr memory = alloc(4);
    ok(cu->StreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cu->StreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cu->StreamCreate(&blocking, 0));
    ok(cu->EventCreate(&event, 0));
    fails(ILLEGAL_STATE, cu->StreamEndCapture(a, &graph));
    fails(STREAM_CAPTURE_UNSUPPORTED, cu->StreamBeginCapture(NULL, 0));
    fails(INVALID_VALUE, cu->StreamBeginCapture(a, (CUstreamCaptureMode)7));

    /* Waiting spoils a recording. */
    ok(cu->StreamBeginCapture(a, 0));
    fails(ILLEGAL_STATE, cu->StreamBeginCapture(a, 0));
    fails(STREAM_CAPTURE_UNSUPPORTED, cu->StreamSynchronize(a));
    fails(STREAM_CAPTURE_INVALIDATED, launch(nothing, 1, 1, a, NULL));
    fails(STREAM_CAPTURE_INVALIDATED, cu->StreamEndCapture(a, &graph));
    assert_null(graph);
    ok(cu->StreamBeginCapture(a, 0));
    fails(STREAM_CAPTURE_UNSUPPORTED, cu->CtxSynchronize());
    fails(STREAM_CAPTURE_INVALIDATED, cu->StreamEndCapture(a, &graph));
    /* So does the legacy stream, for a stream that is ordered against it. */
    ok(cu->StreamBeginCapture(blocking, 0));
    fails(STREAM_CAPTURE_IMPLICIT, cu->MemsetD32(memory, 0, 1));
    fails(STREAM_CAPTURE_INVALIDATED, cu->StreamEndCapture(blocking, &graph));
    ok(cu->StreamBeginCapture(a, 0));
    ok(cu->MemsetD32(memory, 0, 1));
    /* A forked stream must be joined, and ended where it began. */
    ok(cu->EventRecord(event, a));
    ok(cu->StreamWaitEvent(b, event, 0));
    ok(launch(nothing, 1, 1, b, NULL));
    fails(STREAM_CAPTURE_UNMATCHED, cu->StreamEndCapture(b, &graph));
    fails(STREAM_CAPTURE_UNJOINED, cu->StreamEndCapture(a, &graph));
    /* An event from outside. */
    ok(cu->EventRecord(event, b));
    ok(cu->StreamBeginCapture(a, 0));
    fails(STREAM_CAPTURE_ISOLATION, cu->StreamWaitEvent(a, event, 0));
    fails(STREAM_CAPTURE_INVALIDATED, cu->StreamEndCapture(a, &graph));
    /* A stream that is destroyed while it records takes the recording along. */
    ok(cu->StreamBeginCapture(a, 0));
    ok(launch(nothing, 1, 1, a, NULL));
    ok(cu->StreamDestroy(a));
    ok(launch(nothing, 1, 1, b, NULL));
    ok(cu->CtxSynchronize());
}

static void clones_children_and_updates(void **state)
{
    (void)state;
    CUmodule module = load("kernels");
    CUfunction add_one = kernel(module, "add_one");
    CUgraph graph, clone, outer, different;
    CUgraphNode first, child, second, nodes[4], empty;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr a = alloc(4), b = alloc(4);
    size_t count = 4;
    int n = 1;
    ok(cu->MemsetD32(a, 0, 1));
    ok(cu->MemsetD32(b, 0, 1));
    ok(cu->GraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS params = kernel_node(add_one, 1, 1, (void *[]){ &a, &n });
    ok(cu->GraphAddKernelNode(&first, graph, NULL, 0, &params));
    ok(cu->GraphAddKernelNode(&second, graph, &first, 1, &params));
    ok(cu->GraphClone(&clone, graph));
    ok(cu->GraphGetNodes(clone, nodes, &count));
    assert_int_equal(count, 2);
    assert_ptr_not_equal(nodes[0], first);
    ok(cu->GraphCreate(&outer, 0));
    ok(cu->GraphAddChildGraphNode(&child, outer, NULL, 0, clone));
    fails(INVALID_VALUE, cu->GraphAddChildGraphNode(&child, outer, NULL, 0, outer));
    ok(cu->GraphDestroyNode(nodes[1])); /* of the clone; the child is a copy of its own */
    ok(cu->GraphAddKernelNode(&second, outer, &child, 1, &params));
    ok(cu->GraphInstantiate(&exec, outer, 0));
    ok(cu->GraphLaunch(exec, NULL));
    assert_int_equal(read_int(a), 3);
    ok(cu->GraphExecDestroy(exec));

    /* An update takes new parameters of the same shape, and nothing else. */
    ok(cu->GraphInstantiate(&exec, graph, 0));
    CUDA_KERNEL_NODE_PARAMS moved = kernel_node(add_one, 1, 1, (void *[]){ &b, &n });
    ok(cu->GraphKernelNodeSetParams(first, &moved));
    ok(cu->GraphExecUpdate(exec, graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    ok(cu->GraphLaunch(exec, NULL));
    assert_int_equal(read_int(a), 4);
    assert_int_equal(read_int(b), 1);
    ok(cu->GraphClone(&different, graph));
    ok(cu->GraphAddEmptyNode(&empty, different, NULL, 0));
    fails(GRAPH_EXEC_UPDATE_FAILURE, cu->GraphExecUpdate(exec, different, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

    /* A kernel whose module is gone is noticed when it would run. */
    ok(cu->ModuleUnload(module));
    ok(cu->GraphLaunch(exec, NULL));
    fails(INVALID_HANDLE, cu->CtxSynchronize());
    /* Graphs that nobody destroyed end with the last context: the leak count at the end sees it. */
}

static void events_and_text(void **state)
{
    (void)state;
    CUfunction nothing = kernel(load("kernels"), "nothing");
    CUgraph graph;
    CUgraphNode start_node, node, end_node, wait;
    CUgraphExec exec;
    CUevent start, end;
    float milliseconds = -1;
    ok(cu->EventCreate(&start, 0));
    ok(cu->EventCreate(&end, 0));
    ok(cu->GraphCreate(&graph, 0));
    ok(cu->GraphAddEventRecordNode(&start_node, graph, NULL, 0, start));
    CUDA_KERNEL_NODE_PARAMS params = kernel_node(nothing, 1, 1, NULL);
    ok(cu->GraphAddKernelNode(&node, graph, &start_node, 1, &params));
    ok(cu->GraphAddEventRecordNode(&end_node, graph, &node, 1, end));
    ok(cu->GraphAddEventWaitNode(&wait, graph, &end_node, 1, start));
    CUkernelNodeAttrValue value = { .cooperative = 1 };
    ok(cu->GraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    fails(INVALID_VALUE,
          cu->GraphKernelNodeSetAttribute(wait, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    ok(cu->GraphInstantiate(&exec, graph, 0));
    ok(cu->GraphUpload(exec, NULL));
    ok(cu->GraphLaunch(exec, NULL));
    ok(cu->CtxSynchronize());
    ok(cu->EventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 0);
    char path[] = "/tmp/gpulaunch-dot-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    ok(cu->GraphDebugDotPrint(graph, path, 0));
    char *text;
    size_t size;
    assert_int_equal(gpul__file_read(&text, &size, path), GPUL_OK);
    assert_non_null(strstr(text, "kernel nothing"));
    assert_non_null(strstr(text, "n0 -> n1"));
    gpul__free(text);
    unlink(path);
    fails(OPERATING_SYSTEM, cu->GraphDebugDotPrint(graph, "/no/such/folder/file", 0));
    fails(NOT_SUPPORTED,
          cu->GraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
}

GPUL_TEST_MAIN("CPU device: graphs", in_context(by_hand), in_context(recorded),
               in_context(wrong_recordings), in_context(clones_children_and_updates),
               in_context(events_and_text));
