import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { loadCodeLanguage } from "./code-language.ts";
import { codeColours, codeTheme } from "./code-theme.ts";

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
