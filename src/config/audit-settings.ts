import { z } from 'zod';
import { address, optionalText, secret, text, whole } from './setting.ts';

/** Where the heads of the audit logs are kept elsewhere (docs/operating.md). */
export const auditSettings = z.object({
  headMinutes: whole(1, 1440, 10, 'Time between two looks at the heads of the audit logs, which are then kept elsewhere', {
    unit: 'minutes',
  }),
  headFile: optionalText(
    'File that each new head is appended to, best on a disk that this machine can add to and not change; unset: none',
  ),
  s3Endpoint: address('S3-compatible store that each new head is put into; unset: none'),
  s3Bucket: optionalText('Bucket of the heads, with object lock'),
  s3Region: text('us-east-1', 'Region of that store'),
  s3Prefix: optionalText('Prefix of each key in the bucket, for example offhook/heads/'),
  s3LockDays: whole(
    0,
    36_500,
    365,
    'Days for which each head is locked against deletion (object lock, compliance mode); 0: as the bucket says',
    { unit: 'days' },
  ),
});

export const auditSecrets = z.object({
  s3AccessKeyId: secret('Access key of the store of heads'),
  s3SecretAccessKey: secret('Secret key of the store of heads'),
});
