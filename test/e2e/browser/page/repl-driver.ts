import type { FrameLocator, Locator, Page } from "playwright-core";

/** What a person does in the REPL and sees there, in the page and in a webview alike. */
export class ReplDriver {
  readonly root: Page | FrameLocator;
  readonly prompt: Locator;
  /** The rows of the conversation that are drawn. */
  readonly rows: Locator;
  /** What the gate asks, the oldest. */
  readonly question: Locator;

  constructor(root: Page | FrameLocator) {
    this.root = root;
    this.prompt = root.getByRole("textbox", { name: "Prompt" });
    this.rows = root.getByRole("article");
    this.question = root.locator(".confirmation");
  }

  async beginSession(): Promise<void> {
    await this.root.getByRole("button", { name: "New session" }).click();
    await this.root.getByRole("heading", { name: "What should be done?" }).waitFor();
  }

  async send(text: string): Promise<void> {
    await this.prompt.fill(text);
    await this.prompt.press("Enter");
  }

  /** In Proposal Mode nothing is written before a person has reviewed it. */
  async useEditingMode(mode: "branch" | "proposal"): Promise<void> {
    await this.root.getByRole("combobox", { name: "Editing mode" }).selectOption(mode);
  }

  /** Resolves when no turn runs any more. */
  async idle(): Promise<void> {
    await this.root.getByPlaceholder("What should be done?").waitFor();
  }

  /** In the conversation, where it is drawn. */
  async see(text: string | RegExp): Promise<void> {
    await this.rows.getByText(text).first().waitFor();
  }

  /** Scrolls to the end of the conversation, if it is not there. */
  async toNewest(): Promise<void> {
    await this.root.getByRole("feed").focus();
    await this.root.getByRole("feed").press("End");
  }

  /** e.g. `Review`, or `Plan`, which is below More. */
  async openPanel(name: string): Promise<void> {
    const place = this.root.getByRole("tab", { name, exact: true });
    if (await place.isVisible()) return place.click();
    await this.root.getByRole("tab", { name: /^More/ }).click();
    await this.root
      .locator(".more-entry")
      .filter({ has: this.root.getByText(name, { exact: true }) })
      .click();
  }

  /** Has changes proposed by a prompt, and goes to their review once the turn has ended with `answer`. */
  async review(prompt: string, answer: string): Promise<Locator> {
    await this.useEditingMode("proposal");
    await this.send(prompt);
    await this.see(answer);
    await this.idle();
    await this.openPanel("Review");
    return this.root.locator(".review");
  }

  get yes(): Locator {
    return this.question.locator(".confirmation-answer").first();
  }

  get no(): Locator {
    return this.question.locator(".confirmation-answer").last();
  }

  /** Answers once the question can be answered. */
  async answer(which: "yes" | "no"): Promise<void> {
    await this.question.locator('button[aria-disabled="false"]').first().waitFor();
    await this[which].click();
  }

  /** Tool calls that are drawn: name and whether it ran, e.g. `Bash did not run`. */
  async toolCalls(): Promise<readonly string[]> {
    return this.root.locator(".tool").evaluateAll((calls) =>
      calls.map((call) => {
        const text = (selector: string) => call.querySelector(selector)?.textContent ?? "";
        return `${text(".tool-name")} ${text(".tool-status .spoken")}`;
      }),
    );
  }
}
