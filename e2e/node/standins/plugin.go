package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const pluginSocket = "nvidia-gpu.sock"

// plugin is the device plugin. It gives away whole GPUs, by environment variables and device nodes.
type plugin struct {
	api.UnimplementedDevicePluginServer
	cards []gpu
}

// runPlugin serves the kubelet until it is told to end. Without a driver it ends at once.
func runPlugin([]string) error {
	stop := told()
	library, err := openDevice("/dev/nvidiactl")
	if err != nil || !moduleLoaded("nvidia") {
		return fmt.Errorf("error starting plugins: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND (%v)", err)
	}
	defer library.Close()
	cards, err := gpus()
	if err != nil {
		return err
	}
	for {
		server := grpc.NewServer()
		api.RegisterDevicePluginServer(server, &plugin{cards: cards})
		path := filepath.Join(api.DevicePluginPath, pluginSocket)
		os.Remove(path)
		listener, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		go server.Serve(listener)
		before := inode(api.KubeletSocket)
		if err := register(); err != nil {
			say("could not register: %v", err)
		} else {
			say("Registered device plugin for 'nvidia.com/gpu' with Kubelet")
		}
		again := kubeletIsAnother(before, stop)
		server.Stop()
		if !again {
			return nil
		}
		say("inotify: %s created, restarting", api.KubeletSocket)
	}
}

// kubeletIsAnother waits for a new kubelet, or for the word to end: false.
func kubeletIsAnother(before uint64, stop <-chan os.Signal) bool {
	for {
		select {
		case <-stop:
			return false
		case <-time.After(500 * time.Millisecond):
		}
		if now := inode(api.KubeletSocket); now != 0 && now != before {
			return true
		}
	}
}

func register() error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: pluginSocket, ResourceName: "nvidia.com/gpu", Options: &api.DevicePluginOptions{},
	})
	return err
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch says which there are; none of them ever becomes ill.
func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	var devices []*api.Device
	for _, g := range p.cards {
		devices = append(devices, &api.Device{ID: g.uuid, Health: api.Healthy})
	}
	if err := stream.Send(&api.ListAndWatchResponse{Devices: devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		one := &api.ContainerAllocateResponse{Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")}}
		for _, id := range container.DevicesIds {
			if !p.has(id) {
				return nil, errors.New("invalid allocation request: unknown device: " + id)
			}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, one)
	}
	return answer, nil
}

func (p *plugin) has(id string) bool {
	for _, g := range p.cards {
		if g.uuid == id {
			return true
		}
	}
	return false
}
