#include "anyshape/process.h"

#include "base/os/process.h"
#include "base/running_command.h"

namespace anyshape {

const std::atomic<bool>& cancel_on_signals() { return os::cancel_on_signals(); }
int caught_signal() { return os::caught_signal(); }
Status limit_memory(int64_t bytes) { return os::limit_memory(bytes); }
std::string told_command_with(std::string_view words) { return running_command_with(words); }
std::string told_command_with(std::string_view option, std::string_view given, std::string_view wanted) {
  return corrected_command({option, given, wanted}, std::string(wanted));
}
void tell_command(std::vector<std::string> words) { set_running_command(std::move(words)); }

}  // namespace anyshape
