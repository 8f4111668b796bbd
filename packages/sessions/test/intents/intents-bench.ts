import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { IntentsMode } from "@gennai/protocol/model/governance/intents-mode";
import { IntentsService } from "#intents/intents-service";

export const intentsText = `# our intents
active_intents:
  - id: INT-001 # the first
    name: Login
    status: active
    owner: ann
    owned_scope:
      - "src/**" # sources
      - "!src/secret/**"
    constraints: [no new dependency]
    acceptance_criteria: [tests pass]
  - id: INT-002
    name: Later
    status: draft
    owned_scope: ["lib/**"]
`;

/** A workspace with a state directory of its own. */
export class IntentsBench implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "intents-")));
  readonly stateDir = realpathSync(mkdtempSync(join(tmpdir(), "intents-state-")));
  readonly workspace = openLocalWorkspace(this.root, { stateDir: this.stateDir, home: this.stateDir });
  readonly file = ".orchestration/active_intents.yaml";

  /** A service that remembers nothing of others, as after a restart. */
  service(defaultMode: IntentsMode = "auto"): IntentsService {
    return IntentsService.open({ workspace: this.workspace, stateDir: this.stateDir, defaultMode });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  text(path: string): string | undefined {
    return existsSync(join(this.root, path)) ? readFileSync(join(this.root, path), "utf8") : undefined;
  }

  remove(path: string): void {
    rmSync(join(this.root, path));
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
