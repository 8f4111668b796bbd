import { basename } from "node:path";
import { isKeyRelease, matchesKey } from "@earendil-works/pi-tui";
import type { WayToServer } from "@gennai/client/agent/followed-session";
import { type BackgroundRun, listBackgroundRuns } from "@gennai/client/background-runs";
import type { CommandResult } from "@gennai/client/commands/command";
import { emptyFacts } from "@gennai/client/view/session-facts";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { AskedPerson } from "../../client/headless-editor.ts";
import { undoneLine } from "../../client/item-lines.ts";
import type { KeptPrompts } from "../../client/kept-prompts.ts";
import { inPager } from "../../screen/in-pager.ts";
import { type Frame, InlineScreen } from "../../screen/inline-screen.ts";
import { LentTerminal } from "../../screen/lent-terminal.ts";
import { OwnTerminal } from "../../screen/own-terminal.ts";
import { wrapped } from "../../screen/terminal-line.ts";
import { type Paint, paintFor } from "../../terminal/colours.ts";
import { asTyped, type Console } from "../../terminal/console.ts";
import { editText } from "../../terminal/edit-text.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { promptImages } from "../run/prompt-images.ts";
import type { Conversation } from "./conversation.ts";
import { type DrawnPlace, decidePlan, drawnPlace, drawnViews, showView } from "./conversation-views.ts";
import type { Face } from "./face.ts";
import { AskedQuestions, askedPerson } from "./input/asked-questions.ts";
import { Completion } from "./input/completion.ts";
import { linePanel } from "./input/line-panels.ts";
import { PastedImages } from "./input/pasted-images.ts";
import { Picker, type PickerItem } from "./input/picker.ts";
import { PromptEditor } from "./input/prompt-editor.ts";
import { statusLine, troubleWords } from "./shown/status-line.ts";
import { Transcript } from "./shown/transcript.ts";
import { keptDraft, waitingRows } from "./shown/waiting-rows.ts";

/** Lines that are printed at once; more are shown in a pager. */
const printedAtOnce = 200;
/** Milliseconds within which a second Esc belongs to the first. */
const twice = 800;

export interface DrawnOptions {
  readonly console: Console;
  readonly clientId: string;
  readonly workspace: string;
  readonly prompts: KeptPrompts;
  readonly signal: AbortSignal;
}

/** A conversation on a terminal: what was said is the terminal's, the prompt and what still runs are drawn below it. */
export class DrawnFace implements Face, Disposable {
  readonly paint: Paint;
  readonly views = drawnViews;
  readonly person: AskedPerson;
  readonly input: Face["input"];
  readonly #options: DrawnOptions;
  readonly #terminal: OwnTerminal;
  readonly #screen: InlineScreen;
  readonly #lent: LentTerminal;
  readonly #editor: PromptEditor;
  readonly #images: PastedImages;
  readonly #questions: AskedQuestions;
  readonly #left = Promise.withResolvers<void>();
  readonly #begun = Promise.withResolvers<Conversation>();
  #conversation: Conversation | undefined;
  #view = new SessionView();
  #transcript: Transcript;
  /** Seq up to which events are from before; undefined: they were shown. */
  #replay: bigint | undefined;
  #isolation = "";
  #managedBy = "";
  #trouble = "";
  #picker: Picker | undefined;
  #escapedAt = 0;
  /** Prompts that were sent and are not in the log yet. */
  #sending: readonly { readonly text: string }[] = [];
  #runs: readonly BackgroundRun[] = [];
  readonly #ticks: NodeJS.Timeout;
  readonly #place: DrawnPlace;

  constructor(options: DrawnOptions) {
    this.#options = options;
    const { console } = options;
    this.paint = paintFor(console.output, console.environment);
    this.#terminal = new OwnTerminal(
      console.environment,
      (data) => this.#handle(data),
      () => {
        this.#lent.draw({ isWhole: true });
        this.#screen.refresh();
      },
    );
    this.#screen = new InlineScreen(this.#terminal, (size) => this.#frame(size));
    this.#lent = new LentTerminal(this.#terminal, this.#screen);
    this.#images = new PastedImages(options.workspace);
    const refresh = (): void => this.#screen.refresh();
    this.#editor = new PromptEditor(this.#terminal, refresh, this.paint);
    this.#editor.onSubmit = (text) => void this.#submit(text);
    this.#transcript = this.#newTranscript();
    const shown = { paint: this.paint, print: (text: string) => this.write(text) };
    this.#questions = new AskedQuestions({
      ...shown,
      size: this.#terminal,
      refresh,
      giveBack: (data) => this.#editor.handleInput(data),
      pick: (title, items) => this.pick(title, items),
      waits: (subject) => this.#terminal.attract(subject),
    });
    this.person = askedPerson(this.#questions, shown);
    this.input = {
      question: (prompt, { signal }) => this.#questions.ask(linePanel(prompt), { signal }),
      suspend: () => this.#lent.suspend(),
    };
    this.#place = drawnPlace(this, this.#lent, {
      signal: options.signal,
      environment: console.environment,
      page: (text) => this.#showLong(text.trimEnd().split("\n")),
    });
    this.#ticks = setInterval(() => {
      if (this.#view.facts.peek().turn !== undefined) refresh();
    }, 1000);
  }

  /** Takes the terminal and draws. */
  async start(): Promise<void> {
    this.#terminal.start();
    this.#screen.refresh();
    for (const prompt of await this.#options.prompts.load()) this.#editor.addToHistory(prompt);
  }

  /**
   * Resolves when the person leaves.
   * @param here.isolation the server's word for how commands run
   * @param here.managedBy names of policies that nobody here can lift
   */
  async converse(
    conversation: Conversation,
    here: { readonly isolation: string; readonly managedBy: string },
  ): Promise<void> {
    this.#conversation = conversation;
    this.#isolation = here.isolation;
    this.#managedBy = here.managedBy;
    this.#begun.resolve(conversation);
    this.#editor.setAutocompleteProvider(
      new Completion({
        commands: () => conversation.commands(),
        paths: (prefix, options) => conversation.paths(prefix, options),
      }),
    );
    this.changed();
    await this.#left.promise;
  }

  write(text: string): void {
    const lines = text.replace(/\n$/, "").split("\n");
    this.#screen.print([...this.#finished(), ...lines.flatMap((line) => wrapped(line, this.#width))]);
  }

  note(text: string): void {
    this.write(this.paint("dim", asTyped(text, this.#options.console.environment)));
  }

  opened(view: SessionView, replay: bigint): void {
    this.#screen.print(this.#finished());
    if (this.#view.cells.length > 0 && replay === 0n) this.note("A new session begins.");
    this.#view = view;
    this.#runs = [];
    this.#transcript = this.#newTranscript();
    this.#replay = replay === 0n ? undefined : replay;
    this.changed();
  }

  shown(event: InvokeEvent): void {
    if (event.event.case === "userMessage") {
      const { text } = event.event.value;
      // The log has secrets masked.
      const logged = this.#sending.find((sent) => sent.text === text) ?? this.#sending[0];
      this.#sending = this.#sending.filter((sent) => sent !== logged);
    }
    if (event.event.case === "planChanged" && event.event.value.stepId === "" && event.event.value.text !== "")
      this.note(`plan: ${terminalSafe(event.event.value.text)}`);
    if (event.event.case === "changeSetUndone") {
      const line = undoneLine(event.event.value.files);
      if (line !== "") this.note(line);
    }
    if (event.event.case === "backgroundRunChanged") void this.#lookAtRuns();
    if (this.#replay !== undefined) {
      if (event.seq < this.#replay) return;
      this.#replay = undefined;
      this.#screen.print(this.#transcript.lastOf(this.#width));
    }
    const { turn } = this.#view.facts.peek();
    if (event.event.case === "status" && turn === undefined) this.#terminal.attract("Gennai has finished.");
    this.changed();
  }

  putBack(text: string): void {
    const draft = this.#editor.getExpandedText();
    this.#editor.setText(draft === "" ? text : `${text}\n${draft}`);
    this.changed();
  }

  way(change: WayToServer): void {
    this.#trouble = troubleWords(change);
    if (change.state === "gone")
      this.write(
        this.paint("yellow", "! The server cannot be reached any more. Your draft is kept; Enter tries again."),
      );
    this.changed();
  }

  changed(): void {
    if (this.#conversation?.leaves === true) this.#left.resolve();
    const name = this.#view.facts.peek().title || basename(this.#options.workspace);
    this.#terminal.setTitle(`${this.#questions.isOpen ? "? " : ""}gennai, ${name}`);
    this.#screen.refresh();
  }

  async show(result: Extract<CommandResult, { readonly type: "show" }>): Promise<void> {
    if (result.view === "history") return this.#showLong(this.#transcript.whole(this.#width));
    if (this.#conversation !== undefined) await showView(result, this.#conversation, this.#place);
  }

  async decidePlan(plan: Plan): Promise<void> {
    if (this.#conversation !== undefined) await decidePlan(plan, this.#conversation, this.#place);
  }

  /** Has the person choose; undefined: they did not. */
  pick(title: string, items: readonly PickerItem[]): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#picker = new Picker(title, items, this.paint, (value) => {
        this.#picker = undefined;
        this.#screen.refresh();
        resolve(value);
      });
      this.#screen.refresh();
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticks);
    this.#screen.print(this.#finished());
    this.#screen.clear();
    this.#terminal[Symbol.dispose]();
  }

  /** Columns of a line: one less than the terminal has. */
  get #width(): number {
    return Math.max(20, this.#terminal.columns - 1);
  }

  /** What was said and is not printed yet. Looked for once a frame, since an answer comes in many pieces. */
  #finished(): readonly string[] {
    return this.#replay === undefined ? this.#transcript.finished(this.#width) : [];
  }

  #newTranscript(): Transcript {
    const { console, clientId } = this.#options;
    return new Transcript(this.#view, {
      paint: this.paint,
      clientId,
      asTyped: (text) => asTyped(text, console.environment),
      foldsOutput: true,
    });
  }

  #frame({ columns, rows }: { readonly columns: number; readonly rows: number }): Frame {
    const width = Math.max(20, columns - 1);
    const finished = this.#finished();
    const above = this.#questions.above(width).flatMap((line) => wrapped(line, width));
    const own = this.#picker?.frame(width) ?? this.#questions.inPlace(width);
    const prompt = own ?? this.#editor.frame(width, "›");
    const draft =
      own === undefined || this.#editor.getText() === "" ? [] : [keptDraft(this.#editor.getText(), width, this.paint)];
    const status = statusLine(this.#status(), width, this.paint);
    const below = [...prompt.lines, ...draft, status];
    // What still runs has the room that is left; its end is what is new.
    const room = Math.max(0, rows - 2 - above.length - below.length);
    const live = [
      ...this.#transcript.live(width),
      ...waitingRows(
        { facts: this.#view.facts.peek(), sending: this.#sending.map(({ text }) => text), runs: this.#runs },
        this.paint,
      ),
    ].flatMap((line) => wrapped(line, width));
    const shown = room === 0 ? [] : live.slice(-room);
    const lines = ["", ...shown, ...above];
    return {
      finished,
      lines: [...lines, ...below],
      cursor: { row: lines.length + prompt.cursor.row, column: prompt.cursor.column },
    };
  }

  #status(): Parameters<typeof statusLine>[0] {
    const conversation = this.#conversation;
    return {
      facts: conversation === undefined ? emptyFacts : this.#view.facts.peek(),
      workspace: conversation?.workspace,
      mode: conversation?.mode ?? "branch",
      model: conversation?.settings?.model || conversation?.settings?.backend || "",
      isolation: this.#isolation,
      managedBy: this.#managedBy,
      trouble: conversation === undefined ? "starting …" : this.#trouble,
      isStopping: conversation?.isStopping ?? false,
      isAsked: this.#questions.isOpen,
    };
  }

  async #lookAtRuns(): Promise<void> {
    if (this.#conversation === undefined) return;
    const { client, sessionId } = this.#conversation.session;
    const runs = await listBackgroundRuns(client, sessionId, { signal: this.#options.signal }).catch(() => []);
    this.#runs = runs.filter(({ isRunning }) => isRunning);
    this.#screen.refresh();
  }

  #handle(data: string): void {
    if (isKeyRelease(data)) return;
    const elsewhere = this.#lent.view ?? this.#picker;
    if (elsewhere !== undefined) {
      this.#questions.typedElsewhere();
      elsewhere.handle(data);
    } else if (this.#questions.handle(data)) return;
    else if (!this.#ownKey(data)) this.#editor.handleInput(this.#images.marked(data));
    this.#lent.draw();
    this.#screen.refresh();
  }

  /** @returns true if the key was one of the conversation's */
  #ownKey(data: string): boolean {
    const conversation = this.#conversation;
    const isEmpty = this.#editor.getText() === "";
    const key = (name: Parameters<typeof matchesKey>[1]) => matchesKey(data, name);
    if (key("escape")) return this.#escape(isEmpty);
    if (key("ctrl+c")) {
      // A draft that a question hides stays.
      if (!isEmpty && !this.#questions.isOpen) this.#editor.setText("");
      else if (conversation?.isRunning === true && !conversation.isStopping) void conversation.stop();
      else this.#leave();
      return true;
    }
    if (key("ctrl+d") && isEmpty) this.#leave();
    else if (key("ctrl+z")) this.#lent.sleep();
    else if (key("ctrl+o")) this.#showLong(this.#transcript.lastCall(this.#width) ?? ["No call so far."]);
    else if (key("ctrl+t")) this.#showLong(this.#transcript.lastThought(this.#width) ?? ["No thinking so far."]);
    else if (key("ctrl+g")) void this.#editOutside();
    else if (key("ctrl+r")) void this.#searchPrompts();
    else if (key("shift+tab")) void conversation?.nextMode();
    else if (key("up") && isEmpty && this.#view.facts.peek().queuedMessages.length > 0) {
      void conversation?.takeBack().then((text) => (text === undefined ? undefined : this.putBack(text)));
    } else return false;
    return true;
  }

  #escape(isEmpty: boolean): boolean {
    if (this.#editor.isShowingAutocomplete()) return false;
    const now = Date.now();
    const isSecond = now - this.#escapedAt < twice;
    this.#escapedAt = now;
    if (this.#conversation?.isRunning === true) void this.#conversation.stop();
    else if (isSecond && isEmpty && this.views.has("checkpoints")) void this.#conversation?.submit("/checkpoints");
    return true;
  }

  async #submit(text: string): Promise<void> {
    this.#conversation?.reconnect();
    if (text === "") return;
    this.#editor.addToHistory(text);
    const sent = { text };
    if (!this.#conversation?.isRunning && !text.startsWith("/")) this.#sending = [...this.#sending, sent];
    const conversation = await this.#begun.promise;
    const { workspace, prompts } = this.#options;
    prompts.add(text, { workspace, session: conversation.session.sessionId }).catch(() => undefined);
    await conversation.attempt(async () => {
      const images = await promptImages(this.#images.in(text), this.#options.console).catch((error: unknown) => {
        this.putBack(text);
        throw error;
      });
      await conversation.submit(text, images);
    });
    this.#sending = this.#sending.filter((one) => one !== sent);
    this.changed();
  }

  #leave(): void {
    this.#conversation?.leave();
    this.#left.resolve();
  }

  /** Few lines are printed; many are shown in the person's pager. */
  #showLong(lines: readonly string[]): void {
    if (lines.length <= printedAtOnce) return this.#screen.print(lines);
    void this.#outside(() => inPager(lines.join("\n"), this.#options.console.environment));
  }

  async #editOutside(): Promise<void> {
    const draft = this.#editor.getExpandedText();
    const text = await this.#outside(() => editText(draft, "prompt.md", this.#options.console.environment));
    if (text !== undefined) this.#editor.setText(text.trimEnd());
    this.#screen.refresh();
  }

  async #searchPrompts(): Promise<void> {
    const prompts = (await this.#options.prompts.load()).toReversed();
    const items = prompts.map((text, index) => ({ value: String(index), label: text }));
    const chosen = await this.pick("Earlier prompts:", items);
    if (chosen !== undefined) this.#editor.setText(prompts[Number(chosen)] ?? "");
    this.#screen.refresh();
  }

  /** Runs another program on this terminal; undefined: it failed, which is said. */
  async #outside<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    using _terminal = this.#lent.suspend();
    try {
      return await work();
    } catch (error) {
      this.note(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}
