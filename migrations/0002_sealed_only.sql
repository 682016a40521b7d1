ALTER TABLE "offhook"."analyses" DROP COLUMN "document";--> statement-breakpoint
ALTER TABLE "offhook"."calls" DROP COLUMN "from_number";--> statement-breakpoint
ALTER TABLE "offhook"."calls" DROP COLUMN "to_number";--> statement-breakpoint
ALTER TABLE "offhook"."calls" DROP COLUMN "digits";--> statement-breakpoint
ALTER TABLE "offhook"."calls" DROP COLUMN "timeline";--> statement-breakpoint
ALTER TABLE "offhook"."turns" DROP COLUMN "caller_text";--> statement-breakpoint
ALTER TABLE "offhook"."turns" DROP COLUMN "bot_text";--> statement-breakpoint
ALTER TABLE "offhook"."turns" DROP COLUMN "bot_heard_text";