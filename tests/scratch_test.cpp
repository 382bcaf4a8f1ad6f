// Rooms for native code's buffers: of any sizes, one within another, on any thread.
#include "host/cpu/scratch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace relayout::native {
namespace {

bool holds(const Scratch& room, std::size_t bytes, char value) {
  return std::all_of(room.data(), room.data() + bytes, [value](char byte) { return byte == value; });
}

/// Three rooms at a time, each of which keeps what was written to it.
void use_rooms(std::size_t first, std::size_t second, std::size_t third) {
  const Scratch a(first);
  std::fill_n(a.data(), first, 'a');
  {
    const Scratch b(second), c(third);
    std::fill_n(b.data(), second, 'b');
    std::fill_n(c.data(), third, 'c');
    EXPECT_TRUE(holds(b, second, 'b'));
    EXPECT_TRUE(holds(c, third, 'c'));
    for (const Scratch* room : {&a, &b, &c})
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room->data()) % 64, 0u);
  }
  const Scratch again(second);
  std::fill_n(again.data(), second, 'd');
  EXPECT_TRUE(holds(a, first, 'a'));
}

TEST(Scratch, RoomsOfAThreadLieApart) {
  for (int turn = 0; turn < 3; ++turn) {
    use_rooms(100, 3000, 1);
    use_rooms(70000, 64, 200000);
    use_rooms(0, 0, 5);
  }
}

TEST(Scratch, ThreadsHaveRoomsOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int turn = 0; turn < 10; ++turn) use_rooms(1000, 30000, 500);
    });
  for (std::thread& thread : threads) thread.join();
}

struct Room {
  alignas(64) std::int64_t numbers[100];
};

TEST(Scratch, EachPartOfALoopHasARoom) {
  std::vector<std::int64_t> sums(1000);
  parallel_ranges_in<Room>(1000, std::int64_t{1} << 20,
                           [&](std::int64_t begin, std::int64_t end, Room& room) {
                             for (std::int64_t i = begin; i < end; ++i) {
                               std::fill_n(room.numbers, 100, i);
                               sums[static_cast<std::size_t>(i)] = room.numbers[0] + room.numbers[99];
                             }
                           });
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 2 * i);
}

}  // namespace
}  // namespace relayout::native
