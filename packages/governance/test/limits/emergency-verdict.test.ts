import { type EmergencyControl, type EmergencyState, noEmergency } from "@gennai/protocol/model/governance/emergency";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Effect } from "#effect";
import { switched } from "#limits/emergency-state";
import { deployGroup } from "#limits/emergency-verdict";
import { switchesLimit } from "#limits/limits";
import { createLimitsPolicy } from "#limits/limits-policy";
import { allow } from "#verdict";
import { decide, exec, inputWith, inside, outside, summary, write } from "../policies/effects.ts";

const readOnly: EmergencyState = { ...noEmergency, readOnly: true };
const noHighImpact: EmergencyState = { ...noEmergency, disableHighImpact: true };
const blocking = (...blockedTools: readonly string[]): EmergencyState => ({ ...noEmergency, blockedTools });

async function verdictOf(state: EmergencyState, ...effects: readonly Effect[]): Promise<string> {
  return summary(await decide(createLimitsPolicy({ current: () => [switchesLimit(state)] }), ...effects));
}

async function toolVerdict(state: EmergencyState, toolName: string, ...effects: readonly Effect[]): Promise<string> {
  const policy = createLimitsPolicy({ current: () => [switchesLimit(state)] });
  const input = inputWith({ toolName, analysis: { statement: "", effects } });
  return summary(await policy.decide(input, { signal: new AbortController().signal }));
}

describe("seed 003 §13 read-only: enforce read-only mode globally", () => {
  const rows: readonly (readonly [name: string, effect: Effect, wanted: string])[] = [
    ["a read", { type: "read", path: inside("a") }, "allow"],
    ["a search", { type: "search", path: inside("") }, "allow"],
    ["a listing", { type: "list", path: inside("") }, "allow"],
    ["a proposal, which writes nothing", { type: "propose", path: inside("a"), operation: "update" }, "allow"],
    ["the session's own todos", { type: "session" }, "allow"],
    ["a write", write(inside("a")), "deny read_only_mode"],
    ["a delete", write(inside("a"), { operation: "delete" }), "deny read_only_mode"],
    ["a request to the network", { type: "net", url: "https://a.example" }, "deny read_only_mode"],
    ...(
      [
        ["git status", "allow"],
        ["rg colour src | head -5", "allow"],
        ["npm test", "deny read_only_mode"],
        ["$X", "deny read_only_mode"],
        ["git $X", "deny read_only_mode"],
        ["eval ls", "deny read_only_mode"],
        ['python3 -c \'open("x","w")\'', "deny read_only_mode"],
        ["sort -o a b", "deny read_only_mode"],
        ["ls | tee a", "deny read_only_mode"],
        ["git diff --output=a", "deny read_only_mode"],
        ["find . -fprint a", "deny read_only_mode"],
        ["awk '{ print > \"a\" }' b", "deny read_only_mode"],
        ["ls > a", "deny read_only_mode"],
        ["sudo ls", "deny read_only_mode"],
      ] as const
    ).map(([command, wanted]) => [command, exec(command), wanted] as const),
  ];
  it.each(rows)("%s", async (_name, effect, wanted) => {
    expect(await verdictOf(readOnly, effect)).toBe(wanted);
    expect(await verdictOf(noEmergency, effect)).toBe("allow");
  });

  it("says why, when reading is all that is left because the controls cannot be read", async () => {
    const policy = createLimitsPolicy({
      current: () => [switchesLimit({ ...readOnly, problem: "the disk is gone" })],
    });
    expect(await decide(policy, write(inside("a")))).toMatchObject({
      finding: { reason: expect.stringContaining("the disk is gone") },
    });
  });
});

describe("seed 003 §13 high-impact: disable high-impact tool category at runtime", () => {
  it.each([
    ["npm publish", "deny high_impact_disabled"],
    ["sudo ls", "deny high_impact_disabled"],
    ["rm -rf build", "deny high_impact_disabled"],
    ["$X", "deny high_impact_disabled"],
    ["npm test", "allow"],
    ["git status", "allow"],
  ])("%s: %s", async (command, wanted) => {
    expect(await verdictOf(noHighImpact, exec(command))).toBe(wanted);
  });

  it("leaves ordinary writes alone, not those outside", async () => {
    expect(await verdictOf(noHighImpact, write(inside("src/a.ts")))).toBe("allow");
    expect(await verdictOf(noHighImpact, write(outside("/etc/hosts")))).toBe("deny high_impact_disabled");
  });
});

describe("seed 003 §13 deploy: block production deploy tool specifically", () => {
  const state = blocking(deployGroup);
  test.each([
    ...["npm publish", "npm pub", "NPM publish", "npm --workspace a publish", "npm $VERB", "yarn npm publish"],
    ...["yarn workspace a publish", "pnpm -r publish", "sh -c 'npm publish'", 'sh -c "npm pub"lish', "n''pm publish"],
    ...["/usr/local/bin/npm publish", "sudo env A=1 kubectl -n prod apply -f x.yaml"],
    ...["kubectl rollout restart deploy/a", "helm --kube-context prod upgrade --install a b"],
    ...["terraform -chdir=prod apply", "terraform destroy", "cat verbs | xargs terraform", "pulumi up --yes"],
    ...["cdk deploy", "docker push a/b", "docker buildx build --push .", "aws ecs update-service --service a"],
    ...["aws s3 sync dist s3://a", "gcloud app deploy", "gcloud run deploy a", "az webapp up", "vercel"],
    ...["vercel --prod", "npx vercel", "npx -y vercel@latest --prod", "pnpm dlx wrangler deploy", "netlify deploy"],
    ...["fly deploy", "gh release create v1", "cargo publish", "python3 -m twine upload dist/*", "serverless deploy"],
    ...["ansible-playbook site.yml", "npm run deploy", "npm run release:prod", "yarn deploy", "make deploy"],
    ...["./deploy.sh", "bash scripts/deploy.sh prod", "node scripts/publish.js", "git push heroku main"],
    ...["gradle :lib:uploadArchives", "mvn org.apache.maven.plugins:maven-deploy-plugin:3.0.0:deploy-file"],
    ...["ssh prod 'kubectl apply -f x'", "python3 -c 'import os; os.system(\"npm publish\")'"],
    ...["echo npm publish | sh", "ls && npm publish", "alias n=npm; n publish", "$X publish"],
    ...["eval $(echo npm publish)", "timeout 5 npm publish"],
  ])("%s", async (command) => {
    expect(await verdictOf(state, exec(command))).toBe("deny tool_blocked");
  });

  test.each([
    ...["npm test", "npm ci", "npm run build", "npm install vercel", "git push origin feature"],
    ...["git commit -m 'npm publish is blocked'", "docker build .", "kubectl get pods", "terraform plan"],
    ...["gh run list --limit 5", "gh pr create --fill", "cat deploy.sh", "rg 'npm publish' docs"],
    ...["cargo build --release", "python3 -m pytest tests"],
  ])("not %s", async (command) => {
    expect(await verdictOf(state, exec(command))).toBe("allow");
  });

  test.each(["mcp__vercel__deploy_to_vercel", "deployProject", "mcp__npm__publish-package"])(
    "the tool %s of a server",
    async (name) => {
      expect(await toolVerdict(state, name, { type: "net", url: "https://a.example" })).toBe("deny tool_blocked");
    },
  );

  it("holds for a terminal of the user as well, and writes stay possible", async () => {
    const run = exec("npm publish");
    const typed: Effect = run.type === "exec" ? { ...run, where: "client" } : run;
    expect(await toolVerdict(state, "RunInTerminal", typed)).toBe("deny tool_blocked");
    expect(await verdictOf(state, write(inside("a")))).toBe("allow");
  });
});

describe("a blocked tool", () => {
  test.each([
    ["bash", "Bash", "deny tool_blocked"],
    ["bash", "BASH", "deny tool_blocked"],
    ["bash", "Read", "allow"],
    ["mcp__git__push", "mcp__git__push", "deny tool_blocked"],
    ["mcp__git__push", "MCP__Git__Push", "deny tool_blocked"],
    ["push", "mcp__git__push", "deny tool_blocked"],
    ["mcp__git", "mcp__git__push", "deny tool_blocked"],
    ["mcp__git", "mcp__github__push", "allow"],
  ])("%s blocks %s: %s", async (blocked, name, wanted) => {
    expect(await toolVerdict(blocking(blocked), name, { type: "session" })).toBe(wanted);
  });

  test.each(["docker ps; docker run a", "sudo docker run a", "npx docker run a", "xargs docker", "$X"])(
    "docker as a program: %s",
    async (command) => {
      expect(await verdictOf(blocking("docker"), exec(command))).toBe("deny tool_blocked");
      expect(await verdictOf(blocking("docker"), exec("npm test"))).toBe("allow");
    },
  );
});

it("seed 003 §12 post-stop: no post-stop continuation: refuses every call, also one that only reads, and one that does nothing", async () => {
  const stopped = { ...noEmergency, stopAll: true };
  expect(await verdictOf(stopped, { type: "read", path: inside("a") })).toBe("deny stopped");
  expect(await verdictOf(stopped)).toBe("deny stopped");
});

describe("seed 003 §13 auditable: emergency controls are reversible, by people only", () => {
  test.each([
    ...["gennai emergency read-only off --reason x", "npx gennai emergency stop-all off"],
    ...["npm exec -- gennai emergency stop-all off", "npm start -- emergency stop-all off"],
    ...["node packages/cli/src/main.ts emergency unblock deploy", "sh -c 'gennai emergency unblock deploy'"],
    ...["sudo -u dev gennai emergency unblock deploy", "GENNAI emergency unblock deploy", "gennai hooks trust"],
    ...["gennai intents accept", "gennai mcp accept files", "gennai plan approve p1", "gennai ledger purge s1"],
    ...["gennai background open b1 3000", "gennai ledger rotate-key", "gennai guard uninstall claude-code"],
    ...["gennai guard install claude-code --user", "gennai open", "gennai policy sign a --key b"],
    ...["gennai people pin anna", "gennai ledger resend 12..40", "gennai answers allow npm registry.npmjs.org"],
    ...["gennai acp --set-key anthropic", "gennai acp --workspace a --set-key=anthropic"],
  ])("the agent may not: %s", async (command) => {
    expect(await verdictOf(noEmergency, exec(command))).toBe("deny emergency_control");
  });

  test.each([
    ...["gennai emergency status", "gennai sessions", "gennai hooks show", "gennai guard status", "echo emergency"],
    "npm run open",
  ])("but may look: %s", async (command) => {
    expect(await verdictOf(noEmergency, exec(command))).toBe("allow");
  });

  it("comes back to where it was", () => {
    const names = fc.constantFrom("a", "b", "deploy");
    const control = fc.oneof(
      fc
        .constantFrom<EmergencyControl>("read-only", "disable-high-impact", "stop-all")
        .map((name) => ({ control: name, tool: "" })),
      names.map((tool) => ({ control: "block-tool" as const, tool })),
    );
    fc.assert(
      fc.property(fc.array(control), control, (before, one) => {
        const state = before.reduce((each, next) => switched(each, { ...next, enabled: true }), noEmergency);
        const was = switched(state, { ...one, enabled: false });
        expect(switched(switched(was, { ...one, enabled: true }), { ...one, enabled: false })).toEqual(was);
        // On twice is on once.
        expect(switched(switched(was, { ...one, enabled: true }), { ...one, enabled: true })).toEqual(
          switched(was, { ...one, enabled: true }),
        );
      }),
    );
  });
});

it("is fresh at every call", async () => {
  let state = noEmergency;
  const policy = createLimitsPolicy({ current: () => [switchesLimit(state)] });
  expect(await decide(policy, write(inside("a")))).toEqual(allow);
  state = readOnly;
  expect(summary(await decide(policy, write(inside("a"))))).toBe("deny read_only_mode");
});
