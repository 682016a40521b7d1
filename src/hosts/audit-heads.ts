import { AuditHeads, headFile, headObjects, type HeadPlace, headWebhooks } from '../records/retention/audit-heads.ts';
import { s3Objects } from '../records/objects/s3.ts';
import type { Records, RecordsOptions } from './records.ts';

const MINUTE_MS = 60_000;

/** Keeps the heads of the audit logs where the settings say. @param mayKeep whether this process looks after the data folder */
export function startAuditHeads(
  { audit, store: { attempts }, dispatcher }: Pick<Records, 'audit' | 'store' | 'dispatcher'>,
  { config, clock, logger }: RecordsOptions,
  mayKeep: () => Promise<boolean>,
): AuditHeads {
  const { headMinutes, headFile: path } = config.settings.audit;
  const places = [headWebhooks(dispatcher), path === undefined ? undefined : headFile(path), bucketOf(config, clock)].filter(
    (place) => place !== undefined,
  );
  return new AuditHeads({ audit, attempts, places, mayKeep, everyMs: headMinutes * MINUTE_MS, clock, logger });
}

function bucketOf({ settings, secrets }: RecordsOptions['config'], clock: RecordsOptions['clock']): HeadPlace | undefined {
  const { s3Endpoint: endpoint, s3Bucket: bucket, s3Region: region, s3Prefix: prefix = '', s3LockDays } = settings.audit;
  const { auditS3AccessKeyId: accessKeyId, auditS3SecretAccessKey: secretAccessKey } = secrets;
  // All or none, as the configuration's own check says.
  if (endpoint === undefined || bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return undefined;
  const lockDays = s3LockDays === 0 ? undefined : s3LockDays;
  return headObjects(s3Objects({ endpoint, bucket, region, prefix, accessKeyId, secretAccessKey, lockDays }, clock));
}
