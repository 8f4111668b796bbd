import { expect, test } from "vitest";
import { Arming } from "#questions/arming";

test.each([
  { name: "a press on an armed button", steps: ["arm", "press a"], taken: true },
  { name: "a press before it armed", steps: ["press a", "arm"], taken: false },
  { name: "a key that repeats", steps: ["arm", "repeat a"], taken: false },
  { name: "a key held since before", steps: ["press a", "arm", "repeat a"], taken: false },
  { name: "a press that began on another button", steps: ["arm", "press b"], taken: false },
  { name: "a press that left", steps: ["arm", "press a", "leave"], taken: false },
  { name: "a press on the button that focus then left", steps: ["arm", "press a", "leave a"], taken: false },
  { name: "a press that takes focus from another button", steps: ["arm", "press a", "leave b"], taken: true },
  { name: "a click out of nothing", steps: ["arm"], taken: false },
  { name: "a press on a question that went out of sight", steps: ["arm", "press a", "disarm", "arm"], taken: false },
])("$name", ({ steps, taken }) => {
  const arming = new Arming();
  for (const step of steps) {
    const [word, button = ""] = step.split(" ");
    if (word === "arm") arming.armed = true;
    else if (word === "disarm") arming.armed = false;
    else if (word === "leave") arming.leave(button === "" ? undefined : button);
    else arming.begin(button, { repeat: word === "repeat" });
  }
  expect(arming.takes("a")).toBe(taken);
  expect(arming.takes("a")).toBe(false);
});
