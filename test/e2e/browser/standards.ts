/** WCAG 2.2, A and AA, as axe names it. */
export const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
