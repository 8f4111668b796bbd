/** Lines of at most `width` characters. */
export function wrapped(text, width) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line.length + word.length > width) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
