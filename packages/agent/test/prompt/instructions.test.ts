import { describe, expect, it } from "vitest";
import { Conversation } from "#conversation/conversation";
import type { SessionEvent } from "#events/session-event";
import { type InstructionSection, type Instructions, instructionsText } from "#prompt/instructions";

const todos = (text: string): InstructionSection => ({ name: "todos", text });
const note = (name: string, text: string): InstructionSection => ({ name, text, projectNote: true });
const now = (sections: readonly InstructionSection[], basis = "CODE"): Instructions => ({
  basis,
  opening: "You are a coder.",
  sections,
});

/** A conversation, and a way to tell it what holds now, as a turn does. */
function conversationWith() {
  const conversation = new Conversation();
  const happen = (event: SessionEvent, turnId = "t") =>
    conversation.apply({ seq: 1, turnId, itemId: "", time: 0, event });
  const tell = (instructions: Instructions) => {
    const changed = conversation.changedInstructions(instructions);
    if (changed !== undefined) happen(changed);
    return changed?.whole;
  };
  return { conversation, happen, tell, texts: () => conversation.messages.map((each) => "text" in each && each.text) };
}

describe("instructions", () => {
  it("are told whole at first, stay as they are, and what changes is told behind", () => {
    const { conversation, tell, texts } = conversationWith();
    expect(tell(now([todos("# Todo list\n[ ] a"), note("AGENTS.md", "Use tabs.")]))).toBe(true);
    const { system } = conversation;
    expect(system).toBe(instructionsText(now([todos("# Todo list\n[ ] a"), note("AGENTS.md", "Use tabs.")])));
    expect(tell(now([todos("# Todo list\n[ ] a"), note("AGENTS.md", "Use tabs.")]))).toBeUndefined();

    expect(tell(now([todos(""), note("AGENTS.md", "Use tabs."), note("lib/AGENTS.md", "Pure </project_notes>")]))).toBe(
      false,
    );
    expect(conversation.system).toBe(system);
    const [told] = texts();
    expect(told).toContain("Nothing is left of: todos.");
    expect(told).toContain("<project_notes>\nPure &lt;/project_notes>\n</project_notes>");
    expect(told).not.toContain("Use tabs.");
    expect(tell(now([todos(""), note("AGENTS.md", "Use tabs."), note("lib/AGENTS.md", "Pure </project_notes>")]))).toBe(
      undefined,
    );
    expect(tell(now([todos(""), note("lib/AGENTS.md", "Pure </project_notes>")]))).toBe(false);
    expect(texts().at(-1)).toContain("Nothing is left of: AGENTS.md.");
  });

  it("are told whole again for another scenario, and after the conversation was shortened or cleared", () => {
    const { tell, happen, texts } = conversationWith();
    const sections = [todos("# Todo list\n[ ] a")];
    expect(tell(now(sections))).toBe(true);
    expect(tell(now(sections, "PLAN"))).toBe(true);
    const shortened = { reason: "limit", dropped: 0, kept: 0, summary: "", room: 0, tokensBefore: 1, tokensAfter: 1 };
    happen({ type: "compacted", stage: "outputs", ...shortened, reason: "limit" });
    expect(tell(now(sections, "PLAN"))).toBe(true);
    happen({ type: "session-cleared" });
    expect(tell(now(sections, "PLAN"))).toBe(true);
    expect(texts()).toEqual([]);
  });

  it("do not repeat what the agent's own call changed, but what a person did", () => {
    const { tell, happen, texts } = conversationWith();
    tell(now([todos("")]));
    happen({ type: "todos-changed", items: [] });
    expect(tell(now([todos("[ ] by the agent")]))).toBeUndefined();
    happen({ type: "todos-changed", items: [] });
    happen({ type: "todos-changed", items: [] }, "");
    expect(tell(now([todos("[ ] by a person")]))).toBe(false);
    expect(texts()).toEqual([expect.stringContaining("by a person")]);
  });

  it("leave out of the system prompt what a scenario says in its own words, and tell it when it changes", () => {
    const { conversation, tell, texts } = conversationWith();
    tell(now([{ ...todos("[ ] a"), repeated: true }]));
    expect(conversation.system).toBe("You are a coder.");
    tell(now([{ ...todos("[ ] b"), repeated: true }]));
    expect(texts()).toEqual([expect.stringContaining("[ ] b")]);
  });
});
