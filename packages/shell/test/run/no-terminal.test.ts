import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "../staging-machine.ts";

test("what would open an editor or a pager ends at once", async () => {
  await using machine = await stagingMachine();
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const git = "git -c user.name=A -c user.email=a@example.com";
  const rows: readonly (readonly [string, RegExp])[] = [
    [`echo 2 > a.txt && ${git} commit -a`, /empty commit message/],
    [`${git} tag -a v1`, /no tag message/],
    [`echo 2 > a.txt && ${git} commit -aqm two && ${git} rebase -i HEAD~1; git log -p --format=%s`, /two[^]*\+2/],
    [
      `${git} checkout -q -b x && echo x > a.txt && ${git} commit -aqm x && ${git} checkout -q - && echo y > a.txt && ` +
        `${git} commit -aqm y && ! ${git} rebase x && echo z > a.txt && git add a.txt && ${git} rebase --continue`,
      /Successfully rebased/,
    ],
    ["git config --global --edit; echo $TERM $PAGER $EDITOR $VISUAL", /dumb cat true true/],
  ];
  for (const [command, shown] of rows) {
    const staged = await machine.run(repository.root, command);
    expect(staged.run).toMatchObject({ state: "exited", output: expect.stringMatching(shown) });
    await staged.drop();
  }
});

test("outputs can be opened by their names, also by a command that a waiting shell starts", async () => {
  await using machine = await stagingMachine();
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  for (const round of ["first", "second", "third"]) {
    const text = `set -e; echo ${round} >/dev/stderr; echo x | tee /dev/stderr >/dev/null; node -e 'fs.writeFileSync("/dev/stderr", "node")'`;
    const staged = await machine.run(repository.root, text);
    expect(staged.run).toMatchObject({ exitCode: 0, output: `${round}\nx\nnode` });
    await staged.drop();
  }
});
