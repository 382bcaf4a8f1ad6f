// The worst access of each layout: a column per bank, a box per word that the bank has to deliver.
#pragma once

#include <iosfwd>

#include "bank_cases.hpp"

namespace example {

void print_text(std::ostream& out, const BankCases& cases);
void print_svg(std::ostream& out, const BankCases& cases);

}  // namespace example
