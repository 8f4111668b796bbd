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
import { loadCodeLanguage } from "../look/code-language.ts";
import { codeColours, codeTheme } from "./code-theme.ts";

export interface CodeEditorOptions {
  /** Gets the editor in a shadow tree of its own. */
  readonly host: HTMLElement;
  /** Lines end in a line feed. */
  readonly text: string;
  /** Says the language, by its name alone. */
  readonly path: string;
  /** For those who hear the page. */
  readonly label: string;
  readonly readOnly: boolean;
  /** The number of the first line. */
  readonly firstLine: number;
  /** Ctrl+Enter. */
  readonly onSave: () => void;
  /** Escape. */
  readonly onCancel: () => void;
}

/**
 * CodeMirror, as this page shows code. It is in a shadow tree because it makes style sheets, which a content security policy
 * forbids in the document and lets a script adopt in such a tree. A language that cannot be loaded leaves the text without colours.
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
  // Tab is left alone: it leads out of the editor, as out of everything else. Ctrl+] and Ctrl+[ indent.
  const own = [
    { key: "Mod-Enter", run: run(onSave) },
    { key: "Escape", run: run(onCancel), stopPropagation: true },
  ];
  return [
    lineNumbers({ formatNumber: (line) => String(line + firstLine - 1) }),
    // Characters that hide, or turn the reading direction, are seen.
    highlightSpecialChars(),
    drawSelection(),
    EditorView.lineWrapping,
    syntaxHighlighting(codeColours),
    codeTheme,
    ...(readOnly
      ? [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          // Nothing is typed, and yet one scrolls and selects by key.
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
