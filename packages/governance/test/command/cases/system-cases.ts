import type { CommandCases } from "./command-cases.ts";

/** The machine itself: processes, devices, rights, the clock, packages, containers. */
export const systemCases: CommandCases = {
  neverDenied: ["chown -R $USER docs"],
  asked: [
    ...["shutdown --help", "crontab --help", "mount --help", "npm install", "sudo apt install x", "date -s 12:00"],
    ...["hostname foo", "date 120000", "kubectl apply -f x", "chmod -R 755 src"],
  ],
  neverSilent: [
    ...["date -s x", "date -f x", "hostname x", "echo x >/dev/sda", "wait -n; kill 1", "trap - INT", "umask 0"],
    ...["ulimit -n 1", "npx x", "npm ls", "gcc x", "docker ps", "kubectl get x"],
    ...["docker run -v /:/h alpine rm -rf /h/ws/src", "docker exec c rm -rf /", "npx --yes rimraf src"],
    ...["npm exec -- rimraf src", "pnpm dlx rimraf src", "npm run build"],
    "npm test --prefix . -- --require ./evil.js",
  ],
  denied: [
    ...["f(){ f|f& };f", "kill -9 -1", "chmod -R 777 .", "setfacl -R -m u:nobody:rwx ."],
    ...["dd if=/dev/zero of=/dev/sda", "mount --bind /tmp .orchestration", ":(){ :|:& };:"],
  ],
};
