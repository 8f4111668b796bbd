import type { WayToServer } from "@gennai/client/agent/followed-session";
import type { CommandResult, CommandView } from "@gennai/client/commands/command";
import type { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { Paint } from "../../terminal/colours.ts";
import type { LineInput } from "../../terminal/line-input.ts";

/** Where a conversation is held: a terminal that is drawn on, or plain lines. */
export interface Face {
  readonly paint: Paint;
  readonly views: ReadonlySet<CommandView>;
  /** Asks for a line. */
  readonly input: Pick<LineInput, "question" | "suspend">;
  /** Whole lines that are safe for a terminal. */
  write(text: string): void;
  /** A remark of this program. */
  note(text: string): void;
  /** Another session is held from now on. @param replay seq up to which its events are from before */
  opened(view: SessionView, replay: bigint): void;
  /** After `view` took the event. @param added what it adds to a text that is streamed */
  shown(event: InvokeEvent, added: string): void;
  /** A text that nobody was told: the person has it again. */
  putBack(text: string): void;
  way(change: WayToServer): void;
  /** Something besides the conversation changed: settings, the branch. */
  changed(): void;
  /** Shows a view that it has. */
  show(result: Extract<CommandResult, { readonly type: "show" }>): Promise<void>;
  /** Has the person decide about a plan that was written; absent: that is asked in lines. */
  decidePlan?(plan: Plan): Promise<void>;
}
