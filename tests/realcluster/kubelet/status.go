package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// fillStatus makes container statuses and conditions from the state of the containers.
func (r *podRun) fillStatus(now time.Time) {
	r.status.InitContainerStatuses = statusesOf(r.inits)
	r.status.ContainerStatuses = statusesOf(r.regulars)

	initialized := true
	for _, c := range r.inits {
		initialized = initialized && (c.stage == stageDone && !c.failed() || c.sidecar && c.stage != stageWaiting)
	}
	ready := true
	for _, c := range r.regulars {
		ready = ready && c.status.Ready
	}
	set := func(kind v1.PodConditionType, good bool, reason string) {
		if good {
			setCondition(&r.status, now, kind, v1.ConditionTrue, "", "")
		} else {
			setCondition(&r.status, now, kind, v1.ConditionFalse, reason, "")
		}
	}
	notReady := "ContainersNotReady"
	sandbox := r.status.PodIP != ""
	switch r.status.Phase {
	case v1.PodSucceeded:
		ready, sandbox, notReady = false, false, "PodCompleted"
	case v1.PodFailed:
		ready, sandbox, notReady = false, false, "PodFailed"
	}
	set(v1.PodReadyToStartContainers, sandbox, "")
	set(v1.PodInitialized, initialized, "ContainersNotInitialized")
	set(v1.PodReady, ready, notReady)
	set(v1.ContainersReady, ready, notReady)
	set(v1.PodScheduled, true, "")
}

func statusesOf(containers []*containerRun) []v1.ContainerStatus {
	var statuses []v1.ContainerStatus
	for _, c := range containers {
		statuses = append(statuses, *c.status.DeepCopy())
	}
	return statuses
}

func setCondition(status *v1.PodStatus, now time.Time, kind v1.PodConditionType, value v1.ConditionStatus, reason, message string) {
	for i := range status.Conditions {
		c := &status.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status != value {
			c.LastTransitionTime = metav1.NewTime(now)
		}
		c.Status, c.Reason, c.Message = value, reason, message
		return
	}
	status.Conditions = append(status.Conditions, v1.PodCondition{
		Type: kind, Status: value, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now),
	})
}

// write brings the status to the API server. It tries until it is there or the pod is gone: the API server may be down.
func (r *podRun) write(ctx context.Context) {
	patch, err := statusPatch(r.pod.UID, r.written, r.status)
	if err != nil {
		r.kubelet.logf("status of %s/%s: %v", r.pod.Namespace, r.pod.Name, err)
		return
	}
	if patch == nil {
		return
	}
	r.kubelet.untilDone(ctx, func() error {
		_, err := r.kubelet.client.CoreV1().Pods(r.pod.Namespace).Patch(ctx, r.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	r.written = *r.status.DeepCopy()
}

// statusPatch is nil when nothing differs. The UID in it makes the API server refuse another pod of the same name.
func statusPatch(uid types.UID, from, to v1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(v1.Pod{Status: from})
	if err != nil {
		return nil, err
	}
	same, err := json.Marshal(v1.Pod{Status: to})
	if err != nil {
		return nil, err
	}
	if string(before) == string(same) {
		return nil, nil
	}
	after, err := json.Marshal(v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Status: to})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, v1.Pod{})
}

// untilDone repeats a call that failed for reasons that pass: no connection, too much load, an internal error.
func (k *Kubelet) untilDone(ctx context.Context, call func() error) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := call()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return
		}
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
			k.logf("refused for good: %v", err)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
