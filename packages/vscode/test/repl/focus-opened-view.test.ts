import { expect, test } from "vitest";
import { focusOpenedView } from "#repl/focus-opened-view";

/** A window's memory, and a view that tells what is done with it. */
function scene() {
  const kept = new Map<string, unknown>();
  const state = {
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => void kept.set(key, value),
  } as unknown as Parameters<typeof focusOpenedView>[1];
  const open = () => {
    const shown: unknown[] = [];
    let changed = () => {};
    const view = {
      visible: true,
      show: (preserveFocus: boolean) => void shown.push(preserveFocus),
      onDidChangeVisibility: (listener: () => void) => {
        changed = listener;
      },
    };
    focusOpenedView(view as unknown as Parameters<typeof focusOpenedView>[0], state);
    const hide = () => {
      view.visible = false;
      changed();
    };
    return { shown, hide };
  };
  return { open };
}

test("a view that a person opens has the focus, the first time and after it was hidden", () => {
  const { open } = scene();
  const first = open();
  expect(first.shown).toEqual([false]);
  first.hide();
  expect(open().shown).toEqual([false]);
});

test("one that was shown when its window closed comes back without it", () => {
  const { open } = scene();
  open();
  expect(open().shown).toEqual([]);
});
