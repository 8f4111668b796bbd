import { expect, test } from "vitest";
import { loopbackService } from "../loopback-service.ts";
import { fetched, leavesNothing, project } from "./attempt-project.ts";

test("what attempts want to reach is let through by --allow, for the check as well", async () => {
  using served = await loopbackService({ "/one": "2\n", "/two": "3\n" });
  using other = await loopbackService({ "/three": "4\n" });
  await using place = await project([[fetched("one", served.port)], [fetched("three", other.port)]]);
  const reached = `curl -sS --max-time 20 http://127.0.0.1:${served.port}/check && node check.mjs`;
  const { out } = await place.run(
    ...[...place.request, "--check", reached, "--allow", `127.0.0.1:${served.port}`, "fetch the value"],
  );
  expect(out).toMatch(/attempt 2 .*nothing changed/);
  expect(out).toMatch(/attempt 1 {2}check passed/);
  expect(out).toContain("1 │   approved by --allow");
  // Nobody is there who could be asked about the other one.
  expect(other.asked).toEqual([]);
  expect(served.asked).toEqual(expect.arrayContaining(["/one", "/check"]));
});

test("a SIGINT in the middle leaves nothing", () => leavesNothing("SIGINT", 130));
