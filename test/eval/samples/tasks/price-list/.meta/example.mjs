export function totals(lines) {
  const sums = {};
  for (const [index, line] of lines.entries()) {
    const found = /^(\S.*?)\s+(\d+)\s+(\d+)\.(\d\d)$/.exec(line.trim());
    if (found === null) throw new RangeError(`Line ${index + 1} is not a line of a price list.`);
    const [, name, pieces, whole, part] = found;
    sums[name] = (sums[name] ?? 0) + Number(pieces) * (Number(whole) * 100 + Number(part));
  }
  return sums;
}
