// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the nvidb authors
#include "screen/input.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>

namespace nvidb::screen {
namespace {

using Inputs = std::vector<Input>;

// One word an input, so that tables are short: `C-A-S-up`, `q`, `F5`, `press 0 3,4`, `paste[..]`.
std::string name(const Key& key) {
  static constexpr const char* kNames[] = {
      "",     "enter", "escape", "tab",  "backtab", "backspace", "del",       "insert",  "up",
      "down", "left",  "right",  "home", "end",     "page_up",   "page_down", "function"};
  std::string out;
  if (key.ctrl) out += "C-";
  if (key.alt) out += "A-";
  if (key.shift) out += "S-";
  if (key.code == KeyCode::function) return out + "F" + std::to_string(key.number);
  return out + kNames[static_cast<int>(key.code)] + key.text;
}

std::string name(const Mouse& mouse) {
  static constexpr const char* kNames[] = {"press", "release", "drag", "wheel_up", "wheel_down"};
  std::string out;
  if (mouse.ctrl) out += "C-";
  if (mouse.alt) out += "A-";
  if (mouse.shift) out += "S-";
  return out + kNames[static_cast<int>(mouse.kind)] + std::to_string(mouse.button) + "@" +
         std::to_string(mouse.x) + "," + std::to_string(mouse.y);
}

std::string name(const Paste& paste) {
  return "paste[" + paste.text + "]";
}

std::string name(const BackgroundColor& color) {
  return "rgb(" + std::to_string(color.red) + "," + std::to_string(color.green) + "," +
         std::to_string(color.blue) + ")";
}

std::string names(const Inputs& inputs) {
  std::string out;
  for (const Input& input : inputs) {
    if (!out.empty()) out += ' ';
    out += std::visit([](const auto& value) { return name(value); }, input);
  }
  return out;
}

std::string decoded(std::string_view bytes) {
  InputDecoder decoder;
  return names(decoder.feed(bytes));
}

struct Row {
  std::string_view bytes;
  const char* inputs;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << testing::PrintToString(std::string(row.bytes)) << " as " << row.inputs;
}

class InputTable : public testing::TestWithParam<Row> {};

TEST_P(InputTable, Bytes_AreTheseInputs) {
  EXPECT_EQ(decoded(GetParam().bytes), GetParam().inputs);
}

TEST_P(InputTable, FollowedByALetter_LeaveNothingBehind) {
  InputDecoder decoder;
  decoder.feed(GetParam().bytes);
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.feed("z")), "z");
}

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(Characters, InputTable,
                         testing::Values(Row{"q", "q"}, Row{"Q /", "Q   /"}, Row{"é日😀", "é 日 😀"},
                                         Row{"\r\n", "enter enter"}, Row{"\t", "tab"},
                                         Row{"\x7f\b", "backspace backspace"},
                                         Row{"\x01\x03\x1a", "C-a C-c C-z"},
                                         Row{"\x1c\x1d\x1e\x1f", "C-\\ C-] C-^ C-_"},
                                         Row{"\0"sv, ""}, Row{"a\0b"sv, "a b"}));

INSTANTIATE_TEST_SUITE_P(BrokenUtf8, InputTable,
                         testing::Values(Row{"\x80", ""}, Row{"\xff\xfe", ""}, Row{"\xc0\xaf", ""},
                                         Row{"\xe0\x80\x80", ""}, Row{"\xed\xa0\x80", ""},
                                         Row{"\xf4\x90\x80\x80", ""}, Row{"\xc3q", "q"},
                                         Row{"\xe6\x97q", "q"}, Row{"\xe6\x1b[A", "up"},
                                         Row{"\xc2\x9b", ""}, Row{"\x1b\xff", ""}));

INSTANTIATE_TEST_SUITE_P(Alt, InputTable,
                         testing::Values(Row{"\x1bx", "A-x"}, Row{"\x1bX1\x1b\\", ""},
                                         Row{"\x1b\r", "A-enter"}, Row{"\x1b\x7f", "A-backspace"},
                                         Row{"\x1b\x01", "C-A-a"}, Row{"\x1bé", "A-é"},
                                         Row{"\x1b\x1b[A", "A-up"}, Row{"\x1b\x1bOB", "A-down"},
                                         Row{"\x1b\x1bx", "escape A-x"},
                                         Row{"\x1b\x1b\x1b[A", "escape A-up"},
                                         Row{"\x1b\x1b[<0;1;1M", "escape press0@0,0"},
                                         Row{"\x1b\x1b[200~a\x1b[201~", "escape paste[a]"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, InputTable,
    testing::Values(Row{"\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"},
                    Row{"\x1bOA\x1bOB\x1bOC\x1bOD", "up down right left"},
                    Row{"\x1b[H\x1b[F\x1bOH\x1bOF", "home end home end"},
                    Row{"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end"},
                    Row{"\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "insert del page_up page_down"},
                    Row{"\x1bOP\x1bOQ\x1bOR\x1bOS", "F1 F2 F3 F4"},
                    Row{"\x1b[11~\x1b[14~\x1b[15~\x1b[17~", "F1 F4 F5 F6"},
                    Row{"\x1b[21~\x1b[23~\x1b[24~", "F10 F11 F12"}, Row{"\x1b[[A\x1b[[E", "F1 F5"},
                    Row{"\x1b[[F\x1b[[1", ""}, Row{"\x1b[Z", "backtab"}, Row{"\x1bOM", "enter"},
                    Row{"\x1b[1;5C\x1b[1;2A\x1b[1;3B", "C-right S-up A-down"},
                    Row{"\x1b[1;8D\x1b[3;5~\x1b[15;2~", "C-A-S-left C-del S-F5"},
                    Row{"\x1b[1;2P\x1bO5P\x1bO1;2Q", "S-F1 C-F1 S-F2"}));

INSTANTIATE_TEST_SUITE_P(
    ByCodePoint, InputTable,
    testing::Values(Row{"\x1b[27u\x1b[9u\x1b[13u\x1b[127u", "escape tab enter backspace"},
                    Row{"\x1b[9;2u", "backtab"}, Row{"\x1b[97;5u", "C-a"}, Row{"\x1b[97;2u", "A"},
                    Row{"\x1b[65;6u", "C-a"}, Row{"\x1b[26085u", "日"},
                    Row{"\x1b[27;5;13~", "C-enter"}, Row{"\x1b[57358u\x1b[1u\x1b[55296u", ""},
                    Row{"\x1b[1114111u", "\xf4\x8f\xbf\xbf"}, Row{"\x1b[1114112u", ""}));

INSTANTIATE_TEST_SUITE_P(
    MouseReports, InputTable,
    testing::Values(Row{"\x1b[<0;1;1M", "press0@0,0"}, Row{"\x1b[<2;10;5m", "release2@9,4"},
                    Row{"\x1b[<1;300;400M", "press1@299,399"}, Row{"\x1b[<32;4;5M", "drag0@3,4"},
                    Row{"\x1b[<64;1;2M\x1b[<65;1;2M", "wheel_up0@0,1 wheel_down0@0,1"},
                    Row{"\x1b[<28;1;1M", "C-A-S-press0@0,0"},
                    Row{"\x1b[<80;1;1M", "C-wheel_up0@0,0"},
                    Row{"\x1b[<35;4;5M\x1b[<66;1;1M\x1b[<128;1;1M\x1b[<64;1;1m", ""},
                    Row{"\x1b[<0;0;1M\x1b[<0;1M\x1b[<;;M\x1b[<0;1;1;1M\x1b[<0;9999999999;1M", ""},
                    Row{"\x1b[M !!\x1b[M#\xff\xfe", ""}, Row{"\x1b[M \x03", "C-c"},
                    Row{"\x1b[0;4;5M", ""}));

INSTANTIATE_TEST_SUITE_P(
    Pastes, InputTable,
    testing::Values(Row{"\x1b[200~one\ntwo\x1b[201~", "paste[one\ntwo]"},
                    Row{"\x1b[200~\x1b[201~q", "paste[] q"},
                    Row{"\x1b[200~a\x1b[20b\x1b\x1b[201~", "paste[a\x1b[20b\x1b]"},
                    Row{"\x1b[200~\x1b[200~\x1b[A\x1b[201~", "paste[\x1b[200~\x1b[A]"},
                    Row{"\x1b[201~", ""}));

INSTANTIATE_TEST_SUITE_P(
    Answers, InputTable,
    testing::Values(Row{"\x1b]11;rgb:ffff/8080/0000\x07", "rgb(255,128,0)"},
                    Row{"\x1b]11;rgb:1e1e/1E1e/2e2e\x1b\\", "rgb(30,30,46)"},
                    Row{"\x1b]11;rgb:f/80/7fff\x07", "rgb(255,128,127)"},
                    Row{"\x1b]11;rgba:ffff/0000/ffff/8000\x1b\\", "rgb(255,0,255)"},
                    Row{"\x1b]11;rgb:ffff/8080\x07\x1b]11;rgb:/0/0\x07\x1b]11;rgb:g/0/0\x07", ""},
                    Row{"\x1b]11;rgb:12345/0/0\x07\x1b]11;rgb:0/0/0/0\x07\x1b]11;?\x07", ""},
                    Row{"\x1b]10;rgb:0/0/0\x07\x1b]52;c;cXE=\x1b\\\x1b]0;日\x07", ""},
                    Row{"\x1bP1$r0m\x1b\\\x1b_Gi=1;OK\x1b\\\x1b^q\x1b\\", ""},
                    Row{"\x1b[I\x1b[O\x1b[?62;22c\x1b[24;80R\x1b[?2026;2$y\x1b[>1;2c", ""}));

INSTANTIATE_TEST_SUITE_P(BrokenOff, InputTable,
                         testing::Values(Row{"\x1b[1;\x03", "C-c"}, Row{"\x1b[1;\x1b[B", "down"},
                                         Row{"\x1b]11;rgb\x03", "C-c"},
                                         Row{"\x1b]11;rgb\x1b[B", "down"},
                                         Row{"\x1b]11;rgb\x18q", "q"}, Row{"\x1b[12\xc3\xa9", "é"},
                                         Row{"\x1b[1;2;3;4;5A\x1b[99~\x1b[q\x1b[1:2A\x1b[5A", ""},
                                         Row{"\x1bO\r", "enter"},
                                         Row{"\x1bOx\x1bO12345678z", "7 8 z"}));

TEST(Input, LoneEscape_IsTheKeyOnceNothingFollows) {
  InputDecoder decoder;
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.feed("a\x1b")), "a");
  EXPECT_TRUE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.flush()), "escape");
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.flush()), "");
  EXPECT_EQ(names(decoder.feed("[A")), "[ A");
}

TEST(Input, TwoEscapes_AreTwoKeys) {
  InputDecoder decoder;
  decoder.feed("\x1b\x1b");
  EXPECT_TRUE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.flush()), "escape escape");
}

TEST(Input, AltWithABeginningOfSequences_IsDropped) {
  for (const char* bytes : {"\x1b[", "\x1bO", "\x1b]", "\x1bP"}) {
    InputDecoder decoder;
    EXPECT_EQ(names(decoder.feed(bytes)), "");
    EXPECT_TRUE(decoder.is_waiting());
    EXPECT_EQ(names(decoder.flush()), "");
    EXPECT_EQ(names(decoder.feed("q")), "q");
  }
}

// A slow line may pause within a sequence; its second half must not become keys.
TEST(Input, SequenceThatNobodyTypes_IsNotOverYet) {
  for (const char* bytes : {"\x1b[<0;1", "\x1b]11;rgb:", "\x1b[1", "\xe6", "\x1b\xe6", "\x1b[[",
                            "\x1b]11;rgb:0/0/0\x1b"}) {
    InputDecoder decoder;
    decoder.feed(bytes);
    EXPECT_FALSE(decoder.is_waiting()) << bytes;
    EXPECT_EQ(names(decoder.flush()), "");
    EXPECT_EQ(names(decoder.feed("q")), "q");
  }
}

TEST(Input, WithinAPaste_NothingIsWaitedFor) {
  InputDecoder decoder;
  decoder.feed("\x1b[200~a\x1b");
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_EQ(names(decoder.flush()), "");
  EXPECT_EQ(names(decoder.feed("[201~")), "paste[a]");
}

TEST(Input, LongPaste_IsCutAndItsEndIsStillFound) {
  InputDecoder decoder;
  decoder.feed("\x1b[200~");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(decoder.feed(std::string(1000, 'x')).empty());
  const Inputs inputs = decoder.feed("\x1b[201~q");
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(std::get<Paste>(inputs[0]).text, std::string(kMaxPasteBytes, 'x'));
  EXPECT_EQ(names(decoder.feed("\x1b[200~y\x1b[201~")), "paste[y]");
}

TEST(Input, EndlessSequences_NeverBecomeKeys) {
  const std::string body(5000, '1');
  EXPECT_EQ(decoded("\x1b[" + body + "Aq"), "q");
  EXPECT_EQ(decoded("\x1b\x1b[" + body + "Aq"), "escape q");
  EXPECT_EQ(decoded("\x1b]" + body + "\x07q"), "q");
  EXPECT_EQ(decoded("\x1bP" + body + "\x1b\\q"), "q");
  EXPECT_EQ(decoded(std::string(5000, '\x1b') + "x").substr(0, 20), "escape escape escape");
}

std::string random_bytes(std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {"\x1b",
                                                 "\x1b[",
                                                 "\x1b]",
                                                 "\x1bO",
                                                 "\x1b[200~",
                                                 "\x1b[201~",
                                                 "\x1b[<0;3;4M",
                                                 "\x1b[M",
                                                 "\x1bP",
                                                 "\x1b\\",
                                                 "\x07",
                                                 "\x1b[1;5C",
                                                 "11;rgb:0/0/0",
                                                 "a",
                                                 "日",
                                                 "\xe6",
                                                 "~",
                                                 ";",
                                                 "5",
                                                 "1111111111111111111111111111111",
                                                 "\x03",
                                                 "u",
                                                 "[",
                                                 "\x1b\x1b[A"};
  std::string out;
  for (auto i = random() % 12; i > 0; --i) {
    if (random() % 8 == 0) {
      out += static_cast<char>(random());
    } else {
      out += kPieces[random() % std::size(kPieces)];
    }
  }
  return out;
}

TEST(InputProperty, AnySplit_GivesTheSameInputs) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const std::string bytes = random_bytes(random);
    InputDecoder whole, parts;
    Inputs expected = whole.feed(bytes), found;
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::string_view part = rest.substr(0, 1 + random() % (round % 2 ? 1 : 20));
      rest.remove_prefix(part.size());
      for (Input& input : parts.feed(part)) found.push_back(std::move(input));
    }
    ASSERT_EQ(found, expected) << round;
    ASSERT_EQ(parts.is_waiting(), whole.is_waiting()) << round;
    ASSERT_EQ(parts.flush(), whole.flush()) << round;
  }
}

}  // namespace
}  // namespace nvidb::screen
