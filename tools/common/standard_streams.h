// Standard input, output and error as whoever started the program left them: closed, on a full disk, a pipe without a reader.
#pragma once

namespace aoe::tools {

/// Those that are closed stay so for who reads or writes them, but no file that the program opens gets their numbers: what is
/// said would go into it. Before any file is opened.
void occupy_closed_streams();

/// Throws Error(kOutput), with the cause, when not all of what was said has been written.
void finish_standard_output();

}  // namespace aoe::tools
