export function wordLengths(text) {
  throw new Error("Write it.");
}
