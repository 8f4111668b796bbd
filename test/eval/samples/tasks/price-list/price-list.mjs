export function totals(lines) {
  return {};
}
