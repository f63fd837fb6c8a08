#pragma once

namespace muster::store {

// The name of an SQLite file system that gathers what is written to a write-ahead log and writes it
// at once when the log is synced. SQLite itself writes each page of a commit, and the head of each,
// with a call of its own: a commit of one action is 10 to 20 pages.
//
// It relies on synchronous=FULL: no commit is visible to another connection before its sync. What a
// crash finds not written was not synced either. Everything but the log is SQLite's own.
//
// Registered with the first call. Any thread.
const char* gathering_file_system();

}  // namespace muster::store
