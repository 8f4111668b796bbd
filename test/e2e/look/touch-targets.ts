/** Controls that a finger would miss: less than 44 pixels wide or high. Links within a text are as high as it. Runs in the document. */
export function smallTargets(): string[] {
  const controls = "button, select, summary, input, textarea, [role=button], [role=tab], [role=option]";
  return [...document.querySelectorAll<HTMLElement>(controls)].flatMap((control) => {
    // A box is pressed by its label.
    const target = control.matches("input[type=checkbox], input[type=radio]")
      ? (control.closest("label") ?? control)
      : control;
    const { width, height } = target.getBoundingClientRect();
    if (width === 0 || target.closest(".markdown p, .markdown li") !== null) return [];
    if (width >= 43.5 && height >= 43.5) return [];
    const name = control.getAttribute("aria-label") ?? control.textContent ?? "";
    return [
      `${Math.round(width)} x ${Math.round(height)}: ${target.tagName.toLowerCase()}.${target.className} ${name.slice(0, 40)}`,
    ];
  });
}
