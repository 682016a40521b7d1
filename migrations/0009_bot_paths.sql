ALTER TABLE "offhook"."calls" ADD COLUMN "bot_version" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "path" text[];