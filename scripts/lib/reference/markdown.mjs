/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows @returns {string} */
export function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

/** @param {string} text in one line, with nothing that ends a cell */
function cell(text) {
  return text.trim().replace(/\s+/g, " ").replaceAll("|", "\\|");
}

/** @param {readonly string[]} parts blocks of a page, empty ones left out */
export function page(...parts) {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** @param {string} text @returns {string} as code */
export function code(text) {
  return text === "" ? "" : `\`${text}\``;
}

/** The anchor GitHub gives a heading. @param {string} heading */
export function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
