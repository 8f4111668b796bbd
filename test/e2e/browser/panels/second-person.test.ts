import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bobOf, twoPersonsScene } from "../../users/two-persons-scene.ts";
import { lookAtBoth } from "../page/look-at.ts";
import { openPage } from "../page/open-page.ts";
import { pictured } from "../page/pictured.ts";

const pageDirectory = fileURLToPath(new URL("../../../../dist/page", import.meta.url));

test("an approver's page shows what another person agreed to, and takes the answer", async () => {
  await using scene = await twoPersonsScene({ pageDirectory });
  const { url } = scene.world.server;
  await using ada = await openPage({ url, token: scene.ada.token });
  await using bob = await openPage({ url, token: (await bobOf(scene.world)).token });
  await bob.repl.question.getByRole("heading", { name: "ada: Run this command?" }).waitFor();
  await bob.repl.question.getByText("ada agreed to this in").waitFor();
  expect(await bob.repl.question.getByText("Wait for me").count()).toBe(0);
  expect(await ada.repl.question.count()).toBe(0);
  await lookAtBoth(bob.page, "a question to the second person");
  await pictured(bob.page, "second-person");
  await bob.repl.answer("yes");
  await bob.repl.question.waitFor({ state: "detached" });
  expect(await scene.editor.end()).toBe("COMPLETED");
  expect(scene.isWritten()).toBe(true);
  expect([...ada.complaints, ...bob.complaints]).toEqual([]);
});
