// Whether a sanitizer watches this build.
#pragma once

#include <cstdint>

namespace xlog {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Random tests of such a build do a part of their work: it is some twenty times as slow.
inline constexpr uint32_t kPartOfWork = kSanitized ? 10 : 1;

}  // namespace xlog
