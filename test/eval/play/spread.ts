/** As many as are wanted, evenly from the whole list, in its order. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]).filter(
    (each) => each !== undefined,
  );
}
