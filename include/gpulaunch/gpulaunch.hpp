/* A C++17 convenience over the C API, in this one header: owners that free what they hold, failures as
 * exceptions, launches that take buffers, numbers and structs as they are.  Everything of the C API can be
 * used beside it: an owner converts to its pointer.  SPDX-License-Identifier: MIT
 *
 *     auto device = gpul::open();
 *     auto image = gpul::compile(source, {.device = device});         // C++20; else a named options struct
 *     auto module = gpul::load(device, image);
 *     auto x = gpul::alloc(device, std::vector<float>(n, 1));
 *     gpul::launch(gpul::kernel(module, "scale"), {n / 256}, {256}, x, n, 2.0f);
 *     std::vector<float> y = gpul::read<float>(x);                                                       */
#ifndef GPULAUNCH_HPP
#define GPULAUNCH_HPP

#include <gpulaunch/gpulaunch.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpul
{

/* The record of a call that failed; what() is its sentence, with the hint. */
class error : public std::runtime_error
{
  public:
    explicit error(const gpul_error &record)
        : std::runtime_error(record.hint ? std::string(record.message) + " (" + record.hint + ")"
                                         : std::string(record.message)),
          status(record.status), code(record.code), native(record.native), log(record.log)
    {
    }
    gpul_status status;
    int code;   /* 703 is written GL0703 */
    int native; /* the driver's number; 0: none */
    std::string log;
};

/* Throws what the last call of this thread left, unless it succeeded. */
inline void check(gpul_status status)
{
    if (status != GPUL_OK) throw error(*gpul_last_error());
}

/* Holds one object and frees it; moves, and is not copied. */
template <typename T, void (*Free)(T **)> class owner
{
  public:
    owner() = default;
    explicit owner(T *object) : object_(object) {}
    owner(owner &&other) noexcept : object_(other.release()) {}
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            Free(&object_);
            object_ = other.release();
        }
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner() { Free(&object_); }

    T *get() const { return object_; }
    operator T *() const { return object_; }

    /* For the first parameter of a C function: what was held is freed. */
    T **out()
    {
        Free(&object_);
        return &object_;
    }
    T *release() { return std::exchange(object_, nullptr); }

  private:
    T *object_ = nullptr;
};

using device = owner<gpul_device, gpul_device_free>;
using image = owner<gpul_image, gpul_image_free>;
using module = owner<gpul_module, gpul_module_free>;
using buffer = owner<gpul_buffer, gpul_buffer_free>;
using stream = owner<gpul_stream, gpul_stream_free>;
using event = owner<gpul_event, gpul_event_free>;
using pool = owner<gpul_pool, gpul_pool_free>;
using array = owner<gpul_array, gpul_array_free>;
using texture = owner<gpul_texture, gpul_texture_free>;
using prepared = owner<gpul_prepared, gpul_prepared_free>;
using sequence = owner<gpul_sequence, gpul_sequence_free>;

/* ---- From source to kernel ----------------------------------------------------------------- */

inline device open(const gpul_device_opts &opts = {})
{
    device made;
    check(gpul_open(made.out(), &opts));
    return made;
}

inline device open(const char *name)
{
    gpul_device_opts opts = {};
    opts.device = name;
    return open(opts);
}

inline image compile(std::string_view source, const gpul_compile_opts &opts = {})
{
    image made;
    check(gpul_compile(made.out(), source.data(), source.size(), &opts));
    return made;
}

inline image compile_file(const std::string &path, const gpul_compile_opts &opts = {})
{
    image made;
    check(gpul_compile_file(made.out(), path.c_str(), &opts));
    return made;
}

inline image read_image(const std::string &path)
{
    image made;
    check(gpul_image_from_file(made.out(), path.c_str()));
    return made;
}

inline image link(gpul_device *where, const std::vector<gpul_link_input> &inputs,
                  const gpul_link_opts &opts = {})
{
    image made;
    check(gpul_link(made.out(), where, inputs.data(), inputs.size(), &opts));
    return made;
}

inline module load(gpul_device *where, gpul_image *what, const gpul_load_opts &opts = {})
{
    module made;
    check(gpul_load(made.out(), where, what, &opts));
    return made;
}

/* Borrowed from the module; NULL names the only kernel. */
inline const gpul_kernel *kernel(gpul_module *of, const char *name = nullptr)
{
    const gpul_kernel *found;
    check(gpul_module_kernel(&found, of, name));
    return found;
}

/* ---- Memory, streams, events --------------------------------------------------------------- */

/* The element type of a C++ type, for gpul_alloc_opts.type. */
template <typename T> constexpr gpul_type type_of()
{
    if constexpr (std::is_same_v<T, bool>) return GPUL_BOOL;
    else if constexpr (std::is_same_v<T, float>) return GPUL_F32;
    else if constexpr (std::is_same_v<T, double>) return GPUL_F64;
    else if constexpr (std::is_integral_v<T>) {
        constexpr bool is_signed = std::is_signed_v<T>;
        switch (sizeof(T)) {
        case 1: return is_signed ? GPUL_I8 : GPUL_U8;
        case 2: return is_signed ? GPUL_I16 : GPUL_U16;
        case 4: return is_signed ? GPUL_I32 : GPUL_U32;
        case 8: return is_signed ? GPUL_I64 : GPUL_U64;
        }
    }
    return GPUL_TYPE_UNKNOWN;
}

inline buffer alloc(gpul_device *where, size_t bytes, const gpul_alloc_opts &opts = {})
{
    buffer made;
    check(gpul_alloc(made.out(), where, bytes, &opts));
    return made;
}

/* Elements of the host, copied. */
template <typename T>
buffer alloc(gpul_device *where, const std::vector<T> &elements, gpul_alloc_opts opts = {})
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
    opts.init = elements.data();
    if (opts.type == GPUL_TYPE_UNKNOWN) opts.type = type_of<T>();
    return alloc(where, elements.size() * sizeof(T), opts);
}

template <typename T> std::vector<T> read(const gpul_buffer *from)
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
    std::vector<T> elements(gpul_buffer_size(from) / sizeof(T));
    check(gpul_read(elements.data(), from, 0, elements.size() * sizeof(T), nullptr));
    return elements;
}

template <typename T> void write(gpul_buffer *to, const std::vector<T> &elements, size_t offset = 0)
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
    check(gpul_write(to, offset, elements.data(), elements.size() * sizeof(T), nullptr));
}

inline stream new_stream(gpul_device *where, const gpul_stream_opts &opts = {})
{
    stream made;
    check(gpul_stream_new(made.out(), where, &opts));
    return made;
}

inline event new_event(gpul_device *where)
{
    event made;
    check(gpul_event_new(made.out(), where));
    return made;
}

/* ---- Launch -------------------------------------------------------------------------------- */

/* Dimensions as a braced list: {grid}, {x, y}, {x, y, z}. */
struct dim {
    uint64_t x = 1, y = 1, z = 1;
};

/* One argument: an owner of a buffer or texture, whatever gpul_args takes, or a struct by value. */
template <typename T> gpul_arg arg(const T &x)
{
    if constexpr (std::is_same_v<T, buffer>) return gpul_arg_buffer(x.get());
    else if constexpr (std::is_same_v<T, texture>)
        return gpul_arg_ullong(gpul_texture_handle(x.get()));
    else if constexpr (std::is_class_v<T> && !std::is_same_v<T, gpul_arg>) {
        static_assert(std::is_trivially_copyable_v<T>, "a struct is passed byte by byte");
        return gpul_arg_bytes(&x, sizeof x);
    } else if constexpr (std::is_enum_v<T>)
        return gpul_arg_of(static_cast<std::underlying_type_t<T>>(x));
    else return gpul_arg_of(x);
}

template <typename... T>
void launch(const gpul_kernel *what, const gpul_launch_opts &opts, const T &...args)
{
    const gpul_arg items[sizeof...(T) + 1] = { arg(args)... };
    const gpul_arglist list = { sizeof...(T), items };
    check(gpul_launch(what, &opts, list));
}

template <typename... T> void launch(const gpul_kernel *what, dim grid, dim block, const T &...args)
{
    gpul_launch_opts opts = {};
    opts.grid[0] = grid.x, opts.grid[1] = grid.y, opts.grid[2] = grid.z;
    opts.block[0] = block.x, opts.block[1] = block.y, opts.block[2] = block.z;
    launch(what, opts, args...);
}

} // namespace gpul

#endif
