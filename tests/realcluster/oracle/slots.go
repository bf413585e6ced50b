package oracle

import (
	"sort"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	jobutil "k8s.io/kubernetes/pkg/controller/job/util"
)

// span is a time in which the spec of a CronJob was the same.
type span struct {
	from, to time.Time
	spec     batchv1.CronJobSpec
}

type life struct {
	uid     types.UID
	created time.Time
	deleted time.Time
	spans   []span
}

type made struct {
	owner     types.UID
	slot      time.Time
	scheduled bool
	created   time.Time
	ended     time.Time
}

// record remembers what happened, to say at the end what became of each slot. It reads the facts alone, and none of the monitor's rules.
type record struct {
	lives map[types.UID]*life
	jobs  map[types.UID]*made
	order []types.UID
}

func newRecord() *record {
	return &record{lives: map[types.UID]*life{}, jobs: map[types.UID]*made{}}
}

func (r *record) take(told change) {
	switch object := told.Object.(type) {
	case *batchv1.CronJob:
		r.takeCronJob(told, object)
	case *batchv1.Job:
		r.takeJob(told, object)
	}
}

func (r *record) takeCronJob(told change, object *batchv1.CronJob) {
	one, known := r.lives[object.UID]
	if !known {
		one = &life{uid: object.UID, created: told.At}
		r.lives[object.UID] = one
		r.order = append(r.order, object.UID)
	}
	if told.Type == "DELETED" {
		one.deleted = told.At
		return
	}
	last := len(one.spans) - 1
	if last >= 0 && sameTiming(one.spans[last].spec, object.Spec) {
		return
	}
	if last >= 0 {
		one.spans[last].to = told.At
	}
	one.spans = append(one.spans, span{from: told.At, spec: object.Spec})
}

func sameTiming(a, b batchv1.CronJobSpec) bool {
	return a.Schedule == b.Schedule && equal(a.TimeZone, b.TimeZone) && equal(a.Suspend, b.Suspend) &&
		a.ConcurrencyPolicy == b.ConcurrencyPolicy && equal(a.StartingDeadlineSeconds, b.StartingDeadlineSeconds)
}

func equal[T comparable](a, b *T) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func (r *record) takeJob(told change, object *batchv1.Job) {
	one, known := r.jobs[object.UID]
	if !known {
		owner := metav1.GetControllerOf(object)
		one = &made{owner: owner.UID, created: told.At}
		if text, named := object.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"]; named {
			at, err := time.Parse(time.RFC3339, text)
			one.slot, one.scheduled = at, err == nil
		}
		r.jobs[object.UID] = one
	}
	if one.ended.IsZero() && (told.Type == "DELETED" || jobutil.IsJobFinished(object)) {
		one.ended = told.At
	}
}

// slots lists each slot of each CronJob up to the end, in order, with what became of it.
func (r *record) slots(until time.Time) []Slot {
	var all []Slot
	for _, uid := range r.order {
		one := r.lives[uid]
		var mine []made
		for _, job := range r.jobs {
			if job.owner == uid {
				mine = append(mine, *job)
			}
		}
		found := slotsOf(one, until)
		for index := range found {
			if index+1 < len(found) {
				next := found[index+1].At
				found[index].NextAt = &next
			}
			settle(&found[index], mine)
		}
		all = append(all, found...)
	}
	return all
}

func slotsOf(one *life, until time.Time) []Slot {
	end := until
	if !one.deleted.IsZero() {
		end = one.deleted
	}
	var found []Slot
	for _, held := range one.spans {
		to := end
		if !held.to.IsZero() {
			to = held.to
		}
		schedule, err := cron.ParseStandard(written(held.spec))
		if err != nil {
			continue
		}
		// Slots of an interval count from each start: only the Jobs tell them.
		if _, isInterval := schedule.(cron.ConstantDelaySchedule); isInterval {
			continue
		}
		for at := schedule.Next(held.from); !at.IsZero() && !at.After(to); at = schedule.Next(at) {
			fate := ""
			if held.spec.Suspend != nil && *held.spec.Suspend {
				fate = "suspended"
			} else if held.spec.ConcurrencyPolicy == batchv1.ForbidConcurrent {
				fate = "forbidden"
			}
			found = append(found, Slot{
				UID: string(one.uid), At: at.UTC(), Fate: fate, DeadlineSeconds: held.spec.StartingDeadlineSeconds,
			})
		}
	}
	sort.Slice(found, func(a, b int) bool { return found[a].At.Before(found[b].At) })
	return found
}

// written is the schedule as the controller reads it: the zone of the spec stands before a text that names none.
func written(spec batchv1.CronJobSpec) string {
	if strings.Contains(spec.Schedule, "TZ") || spec.TimeZone == nil {
		return spec.Schedule
	}
	return "TZ=" + *spec.TimeZone + " " + spec.Schedule
}

// settle says what became of the slot: a Job that names it, a Job that stood in its way, or nothing.
func settle(slot *Slot, jobs []made) {
	for _, job := range jobs {
		if job.scheduled && job.slot.Equal(slot.At) {
			created := job.created
			slot.Fate, slot.CreatedAt = "ran", &created
			return
		}
	}
	if slot.Fate != "forbidden" {
		if slot.Fate == "" {
			slot.Fate = "nothing"
		}
		return
	}
	slot.Fate = "nothing"
	var until time.Time
	for _, job := range jobs {
		if !job.scheduled || !job.created.Before(slot.At) {
			continue
		}
		if job.ended.IsZero() {
			slot.Fate, slot.BlockedUntil = "forbidden", nil
			return
		}
		if job.ended.After(slot.At) && job.ended.After(until) {
			until = job.ended
			slot.Fate, slot.BlockedUntil = "forbidden", &until
		}
	}
}
