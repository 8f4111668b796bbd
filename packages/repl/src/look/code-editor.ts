import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { loadCodeLanguage } from "./code-language.ts";

export interface CodeEditorOptions {
  /** The element that gets the editor, in a shadow tree. */
  readonly host: HTMLElement;
  /** Lines end in a line feed. */
  readonly text: string;
  /** Its name alone decides the language. */
  readonly path: string;
  /** Label for screen readers. */
  readonly label: string;
  readonly readOnly: boolean;
  /** Number that the first line gets. */
  readonly firstLine: number;
  /** Called at Ctrl+Enter. */
  readonly onSave: () => void;
  /** Called at Escape. */
  readonly onCancel: () => void;
}

/**
 * CodeMirror, as this page shows code. It makes style sheets, which a content security policy forbids in the document, but lets a
 * script adopt in a shadow tree: so it is in one. If a language cannot be loaded, the text stays without colours.
 */
export class CodeEditor implements Disposable {
  readonly #view: EditorView;
  #disposed = false;

  constructor(options: CodeEditorOptions) {
    const { host, text, path } = options;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const language = new Compartment();
    this.#view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({ doc: text, extensions: [...extensionsOf(options), language.of([])] }),
    });
    void loadCodeLanguage(path).then(
      (support) => {
        if (support !== undefined && !this.#disposed) {
          this.#view.dispatch({ effects: language.reconfigure(support) });
        }
      },
      () => {},
    );
  }

  /** The present text; lines end in a line feed. */
  get text(): string {
    return this.#view.state.doc.toString();
  }

  focus(): void {
    this.#view.focus();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#view.destroy();
  }
}

function extensionsOf({ label, readOnly, firstLine, onSave, onCancel }: CodeEditorOptions) {
  const run = (action: () => void) => () => {
    action();
    return true;
  };
  // Tab keeps its usual meaning and leaves the editor. Ctrl+] and Ctrl+[ indent.
  const own = [
    { key: "Mod-Enter", run: run(onSave) },
    { key: "Escape", run: run(onCancel), stopPropagation: true },
  ];
  return [
    lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }),
    // Makes hidden characters visible, and those that change the reading direction.
    highlightSpecialChars(),
    drawSelection(),
    EditorView.lineWrapping,
    syntaxHighlighting(codeColours),
    codeTheme,
    ...(readOnly
      ? [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          // Read-only, and yet the reader scrolls and selects by keys.
          EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
          keymap.of(defaultKeymap),
        ]
      : [
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          history(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          keymap.of([...own, ...defaultKeymap, ...historyKeymap]),
        ]),
  ];
}

/** The look of the code editor, made of the page's variables, so that it changes with the theme. */
const codeTheme = EditorView.theme({
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
const codeColours = HighlightStyle.define([
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
