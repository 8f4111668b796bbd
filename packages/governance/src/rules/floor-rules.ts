/**
 * The floor's patterns, in the format of every rule file. They cover what command analysis does not parse: text for databases
 * and for other shells. What it does parse (deletes, git, disks, deployments …) is judged by its own rules.
 */
export const floorRulesYaml = `# Rules that always hold, in every workspace. User and project rules add to them.
bashToolPatterns:
  - name: sql-drop
    pattern: '\\bDROP\\s+(TABLE|DATABASE|SCHEMA|COLLECTION)\\b'
    reason: drops a table, a schema or a database
    ask: true
    match: ['psql -c "DROP TABLE users"', 'mysql -e "drop database shop"']
    notMatch: ['grep -rn "DROP TABLE" migrations', 'git commit -m "drop table of contents"']
  - name: sql-truncate
    pattern: '\\bTRUNCATE\\s+TABLE\\b'
    reason: deletes every row of a table
    ask: true
    match: ['sqlite3 app.db "TRUNCATE TABLE users"']
    notMatch: ['truncate -s 0 build.log', 'rg "truncate table" docs']
  - name: sql-delete-all
    pattern: '\\bDELETE\\s+FROM\\s+[\\w."]+\\s*(;|"|$)'
    reason: deletes every row of a table
    ask: true
    match: ['psql -c "DELETE FROM users;"']
    notMatch: ['psql -c "DELETE FROM users WHERE id = 4"']
  - name: redis-flush
    pattern: '\\bredis-cli\\b.*\\bFLUSH(ALL|DB)\\b'
    reason: empties a Redis database
    ask: true
    match: ['redis-cli -h cache flushall']
    notMatch: ['redis-cli get flushes']
  - name: mongo-drop
    pattern: '\\bdropDatabase\\s*\\('
    reason: drops a MongoDB database
    ask: true
    match: ['mongosh shop --eval "db.dropDatabase()"']
    notMatch: ['grep -n "dropDatabase()" src/db.ts']
  - name: docker-prune
    pattern: '\\b(docker|podman)\\s+(system|volume|image|container|builder)\\s+prune\\b'
    reason: removes containers, images or volumes that others may need
    ask: true
    match: ['docker system prune -af', 'podman volume prune']
    notMatch: ['docker ps', 'docker volume ls']
  - name: history-clear
    pattern: '\\bhistory\\s+-[a-z]*[cw]'
    reason: rewrites the history of the shell
    match: ['history -c']
    notMatch: ['history | tail']
  - name: powershell-remove
    pattern: '\\bRemove-Item\\b.*-(Recurse|Force)\\b'
    reason: deletes a tree by PowerShell
    match: ['powershell -Command "Remove-Item -Recurse -Force C:\\\\Users"']
    notMatch: ['powershell -Command "Get-ChildItem"']
  - name: cmd-remove
    pattern: '\\b(rd|rmdir|del|erase)\\s+(/[a-z]\\s+)*/s\\b'
    reason: deletes a tree by cmd.exe
    match: ['cmd.exe /c "rd /s /q build"', 'cmd /c del /q /s *.*']
    notMatch: ['rmdir src/empty']
  - name: windows-destroy
    pattern: '\\b(vssadmin\\s+delete|wbadmin\\s+delete|bcdedit\\s+/|diskpart\\b|cipher\\s+/w|format\\s+[a-z]:|reg\\s+delete|Stop-Computer|Clear-Disk|Format-Volume)'
    reason: destroys disks, backups or the registry of a Windows machine
    match: ['cmd /c format c: /q', 'reg delete HKLM\\\\Software /f']
    notMatch: ['npm run format', 'clang-format -i src/a.cc']
`;
