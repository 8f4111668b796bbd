import { errorMessage } from "@gennai/protocol/error-message";
import { codeIn } from "./page-link.ts";

/** Asks the page's user for a link. Only one request is open at a time. */
export class PageDoor {
  readonly #document: Document;
  #open: { readonly say: (message: string) => void; readonly close: () => void } | undefined;

  constructor(document: Document) {
    this.#document = document;
  }

  /**
   * Shows the door over everything else, or, if it is open, only its new message.
   * @param enter gets a code; the door closes when it resolves, and shows the error's message when it rejects
   */
  show(message: string, enter: (code: string) => Promise<void>): void {
    if (this.#open === undefined) this.#open = this.#build(enter);
    this.#open.say(message);
  }

  close(): void {
    this.#open?.close();
    this.#open = undefined;
  }

  #build(enter: (code: string) => Promise<void>) {
    const make = <Name extends keyof HTMLElementTagNameMap>(name: Name, className: string, text = "") => {
      const element = this.#document.createElement(name);
      element.className = className;
      element.textContent = text;
      return element;
    };
    const dialog = make("dialog", "page-door");
    dialog.setAttribute("aria-labelledby", "page-door-title");
    const title = make("h1", "page-door-title", "This page needs a link");
    title.id = "page-door-title";
    const told = make("p", "page-door-message");
    told.setAttribute("role", "status");
    const how = make("p", "page-door-how", "Where the server runs, type ");
    how.append(make("code", "page-door-command", "gennai open"), " (from the repository: ");
    how.append(make("code", "page-door-command", "npm start -- open"), ") and paste the link it prints.");
    const form = make("form", "page-door-form");
    const label = make("label", "page-door-label", "Link");
    const input = make("input", "page-door-input");
    input.type = "text";
    input.autocomplete = "off";
    input.spellcheck = false;
    input.placeholder = "http://127.0.0.1:7777/#…";
    label.append(input);
    const button = make("button", "page-door-button", "Open");
    button.type = "submit";
    form.append(label, button);
    dialog.append(title, told, how, form);

    const say = (message: string) => {
      told.textContent = message;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const code = codeIn(input.value);
      if (code === undefined) {
        say("This is not a link of a Gennai server: it ends with # and a code.");
        return;
      }
      input.value = "";
      button.disabled = true;
      enter(code)
        .then(
          () => this.close(),
          (error: unknown) => say(errorMessage(error)),
        )
        .finally(() => {
          button.disabled = false;
        });
    });
    // Escape would close the dialog, and leave the page without a way in.
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    this.#document.body.append(dialog);
    dialog.showModal();
    input.focus();
    return {
      say,
      close: () => {
        dialog.close();
        dialog.remove();
      },
    };
  }
}
