import { AuditLog } from '../../src/records/retention/audit-log.ts';

/**
 * A process that appends to the audit log in its first argument until it has written as many lines as the third says, or is killed.
 * It prints the subject of each line that is on the disk; the second argument begins the subjects.
 */
const [path = '', prefix = '', count = 'Infinity'] = process.argv.slice(2);
const log = new AuditLog(path, () => Date.now());
for (let index = 0; index < Number(count); index += 2) {
  const subjects = [`${prefix}${index}`, `${prefix}${index + 1}`];
  await Promise.all(
    subjects.map((subject) => log.add({ by: 'k', tenantId: 'default', action: 'look', subject, outcome: 'done' })),
  );
  process.stdout.write(`${subjects.join('\n')}\n`);
}
