import { expect, test } from "vitest";
import { z } from "zod";
import { cliScene } from "../../cli-scene.ts";

test("sessions are renamed and forked; a title that is none is refused", async () => {
  await using scene = await cliScene({ "a.txt": "a\n" });
  expect(await scene.run("run", "hello", "--mode", "proposal")).toMatchObject({ code: 0 });
  const line = z.object({ sessionId: z.string(), title: z.string() });
  const listed = async () => {
    const { out } = await scene.run("sessions", "--json");
    return out
      .trim()
      .split("\n")
      .map((text) => line.parse(JSON.parse(text)));
  };
  const [session] = await listed();
  const id = session?.sessionId ?? "";
  expect(await scene.run("sessions", "rename", id, "The roof")).toMatchObject({ code: 0, out: `${id}  The roof\n` });
  const forked = await scene.run("sessions", "fork", id);
  expect(forked.code).toBe(0);
  expect(await listed()).toMatchObject([
    { sessionId: forked.out.trim(), title: "Fork of The roof" },
    { sessionId: id, title: "The roof" },
  ]);
  expect((await scene.run("sessions", "rename", id, " ")).code).not.toBe(0);
  expect((await scene.run("sessions", "fork", "none")).code).not.toBe(0);
});

test.each([
  ["--max-turn-tokens", "many"],
  ["--max-session-tokens", "1.5"],
  ["--max-cost", "-1"],
])("%s %s is told with what to do next", async (flag, value) => {
  await using scene = await cliScene({ "a.txt": "a\n" });
  const { code, err } = await scene.run("run", "hello", flag, value);
  expect(code).toBe(2);
  expect(err).toContain(flag);
});

test("a budget of a session ends its turn before anything is sent, and the exit code says so", async () => {
  await using scene = await cliScene({ "a.txt": "a\n" });
  const { code, out, err } = await scene.run("run", "hello", "--mode", "proposal", "--max-session-tokens", "10");
  expect(code).not.toBe(0);
  expect(out + err).toContain("budget of 10 tokens");
});
