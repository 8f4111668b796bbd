import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The look of the code editor, made of the page's variables, so that it changes with the theme. */
export const codeTheme = EditorView.theme({
  "&": {
    color: "var(--g-text-strong)",
    backgroundColor: "var(--vscode-editor-background, var(--g-back-sunken))",
    fontSize: "var(--g-mono-size)",
    maxHeight: "60vh",
  },
  "&.cm-focused": { outline: "1px solid var(--g-focus)" },
  ".cm-scroller": { fontFamily: "var(--g-mono)", lineHeight: "1.45" },
  ".cm-content": { caretColor: "var(--vscode-editorCursor-foreground, var(--g-text-strong))" },
  ".cm-cursor": { borderLeftColor: "var(--vscode-editorCursor-foreground, var(--g-text-strong))" },
  ".cm-gutters": {
    color: "var(--g-text-quiet)",
    backgroundColor: "transparent",
    borderRight: "1px solid var(--g-line)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, currentColor 6%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--vscode-editor-selectionBackground, light-dark(#add6ff, #264f78))",
  },
  "&.cm-focused .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--g-text-quiet)",
  },
  ".cm-specialChar": { color: "var(--g-bad)" },
});

/** The colours of words in it; `look/syntax.css` defines them. */
export const codeColours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.atom, tags.self], color: "var(--g-syntax-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.url], color: "var(--g-syntax-string)" },
  { tag: [tags.number, tags.literal], color: "var(--g-syntax-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--g-syntax-comment)" },
  { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--g-syntax-type)" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.macroName, tags.labelName],
    color: "var(--g-syntax-function)",
  },
  { tag: [tags.variableName, tags.propertyName, tags.attributeName], color: "var(--g-syntax-name)" },
  { tag: tags.tagName, color: "var(--g-syntax-tag)" },
  { tag: [tags.heading, tags.strong], fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.link, textDecoration: "underline" },
  { tag: tags.invalid, color: "var(--g-syntax-invalid)" },
]);
